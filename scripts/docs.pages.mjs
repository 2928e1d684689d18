// What must hold for the pages themselves: relative links and anchors lead somewhere, so do the names of pages in sources. Each row of a table
// belongs to a table. A page of a guide has its number, its neighbours and at most 1,500 words. Words are counted as a reader reads them:
// headings, sentences, lists and tables. Code blocks do not count.
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize, relative } from "node:path"
import { isAddress, linksOf, proseOf, repository } from "./pages/links.mjs"
import { filesUnder } from "./workspace.mjs"

const MAX_WORDS = 1500

/** The folders of guides, below docs. */
const guides = ["server", "host", "platform"]

/** The anchors that GitHub gives to the headings of a document. */
const anchorsOf = (lines) => {
  const anchors = new Set()
  for (const { text } of lines) {
    const [, heading] = /^#+ +(.*?) *$/.exec(text) ?? []
    if (heading === undefined) continue
    const name = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")
    let anchor = name
    for (let again = 1; anchors.has(anchor); again++) anchor = `${name}-${again}`
    anchors.add(anchor)
  }
  return anchors
}

/**
 * Where a link leads in this repository; `undefined` when it leads elsewhere. READMEs of packages name the repository by its address, because
 * they are read at npm, too. `scripts/pages.mjs` looks at addresses of the site.
 */
const targetOf = (path, target) => {
  if (repository.test(target)) return target.replace(repository, "")
  if (isAddress(target)) return undefined
  return target.startsWith("#") ? path + target : join(dirname(path), target)
}

const linkErrors = (at, documents) => {
  const anchors = new Map(documents.map(({ lines, path }) => [path, anchorsOf(lines)]))
  return documents.flatMap(({ lines, path }) =>
    lines.flatMap(({ line, text }) =>
      linksOf(text).flatMap(({ start, target }) => {
        const full = targetOf(path, target)
        if (full === undefined) return []
        const [file, anchor] = full.split("#")
        const name = normalize(file).replace(/\/$/, "")
        const fail = (what) => [{ path, line, column: start + 1, what }]
        if (name.startsWith("..") || !existsSync(join(at, name))) return fail(`dead link: there is no ${name}`)
        if (anchor === undefined || !name.endsWith(".md")) return []
        const known = anchors.get(name) ?? anchorsOf(proseOf(readFileSync(join(at, name), "utf8")))
        return known.has(anchor) ? [] : fail(`dead anchor: ${name} has no heading #${anchor}`)
      })
    )
  )
}

/** GitHub shows rows without a line of dashes below the first row as text: an empty line inside of a table makes such rows. */
const tableErrors = (documents) =>
  documents.flatMap(({ lines, path }) => {
    const rows = new Map(lines.filter(({ text }) => text.startsWith("|")).map(({ line, text }) => [line, text]))
    return [...rows.keys()]
      .filter((line) => !rows.has(line - 1) && !/^\|[ :|-]+\|$/.test(rows.get(line + 1) ?? ""))
      .map((line) => ({
        path,
        line,
        column: 1,
        what: "the rows belong to no table: a line of dashes must follow the first row"
      }))
  })

const wordsOf = (lines) =>
  lines.reduce((sum, { text }) => sum + text.split(/\s+/).filter((word) => word !== "").length, 0)

/** A page of a guide says where it stands: after its title, in one line. */
const guideErrors = (pages, entrance) =>
  pages.flatMap(({ lines, path }, index) => {
    const fail = (what, line = 1) => ({ path, line, column: 1, what })
    const errors = []
    const words = wordsOf(lines)
    if (words > MAX_WORDS) {
      errors.push(fail(`the page has ${words} words: ${MAX_WORDS} is the most, without code blocks`))
    }
    if (!basename(path).startsWith(`${String(index + 1).padStart(2, "0")}-`)) {
      errors.push(fail(`the pages of a guide have numbers without a gap: this page is ${index + 1}`))
    }
    const neighbours = [pages[index - 1], pages[index + 1]].flatMap((page) =>
      page === undefined ? [] : [basename(page.path)]
    )
    const place = lines.find(({ line }) => line === 3)?.text ?? ""
    if (!place.startsWith(`> Page ${index + 1} of ${pages.length} `)) {
      errors.push(fail(`the line after the title must begin with "> Page ${index + 1} of ${pages.length} "`, 3))
    }
    for (const neighbour of neighbours) {
      if (!place.includes(`](${neighbour})`)) {
        errors.push(fail(`the line after the title has no link to ${neighbour}`, 3))
      }
    }
    const listed = relative("docs", path)
    if (!entrance.includes(`](${listed})`)) errors.push(fail(`docs/README.md has no link to ${listed}`))
    return errors
  })

/** Comments of sources and notes of changes name pages by their paths. */
const nameErrors = (at) =>
  [
    ...filesUnder(at, "packages", (name) => name.endsWith(".ts")).filter((path) => path.split("/")[2] === "src"),
    ...filesUnder(at, ".changeset", (name) => name.endsWith(".md"))
  ].flatMap((path) =>
    readFileSync(join(at, path), "utf8").split("\n").flatMap((text, index) =>
      Array.from(text.matchAll(/(?<![\w/.-])docs\/[\w./-]+\.md\b/g))
        .filter(([name]) => !existsSync(join(at, name)))
        .map(({ 0: name, index: at }) => ({
          path,
          line: index + 1,
          column: at + 1,
          what: `dead name: there is no ${name}`
        }))
    )
  )

/** What is wrong with the pages. */
export const pages = (at) => {
  const markdown = (folder, isIn = () => true) => filesUnder(at, folder, (name) => name.endsWith(".md")).filter(isIn)
  const documents = [
    "README.md",
    ...markdown("docs"),
    ...markdown("packages", (path) => basename(path) === "README.md"),
    ...markdown(".github")
  ].filter((path) => existsSync(join(at, path)))
    .map((path) => ({ path, lines: proseOf(readFileSync(join(at, path), "utf8")) }))
  const entrance = existsSync(join(at, "docs/README.md")) ? readFileSync(join(at, "docs/README.md"), "utf8") : ""
  return [
    ...linkErrors(at, documents),
    ...tableErrors(documents),
    ...nameErrors(at),
    ...guides.flatMap((guide) =>
      guideErrors(documents.filter(({ path }) => path.startsWith(`docs/${guide}/`)), entrance)
    )
  ]
}
