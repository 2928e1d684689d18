// The links of the documentation: of Markdown as it stands in the repository, and of the pages that are built and published.
import { existsSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { filesUnder } from "../workspace.mjs"

/** Where .github/workflows/pages.yml publishes the pages. Each has its path in the repository, with `.html`. */
export const site = "https://effect-mcp.github.io/effect-mcp/"

/** A file or a folder of the repository, as the pages name it. */
export const repository = /^https:\/\/github\.com\/effect-mcp\/effect-mcp\/(?:blob|tree)\/main\//

/** The lines of a document that are not code, with their numbers. */
export const proseOf = (text) => {
  const lines = []
  let fence
  text.split("\n").forEach((line, index) => {
    const [marks] = /^ *(`{3,}|~{3,})/.exec(line)?.slice(1) ?? []
    if (fence === undefined && marks === undefined) lines.push({ text: line, line: index + 1 })
    else if (fence === undefined) fence = marks
    else if (marks !== undefined && marks.startsWith(fence) && line.trim() === marks) fence = undefined
  })
  return lines
}

const link = /\]\(<?([^()\s>]+)>?(?: "[^"]*")?\)/dg

/** The links of a line, and where their targets begin. What stands in backticks is not a link. */
export const linksOf = (line) => {
  const shown = line.replace(/(`+)(?:(?!\1).)*\1/g, (code) => "·".repeat(code.length))
  return Array.from(shown.matchAll(link), ({ 1: target, indices: [, [start]] }) => ({ target, start }))
}

/** The text with other targets of its links. */
export const withTargets = (text, change) => {
  const lines = text.split("\n")
  for (const { line, text: own } of proseOf(text)) {
    lines[line - 1] = linksOf(own).reduceRight(
      (all, { start, target }) => all.slice(0, start) + change(target) + all.slice(start + target.length),
      own
    )
  }
  return lines.join("\n")
}

export const isAddress = (target) => /^[a-z][a-z+.-]*:/i.test(target)

/** The path from the root to which a relative link of a page leads, without its anchor. */
export const pathOf = (page, target) =>
  posix.join(posix.dirname(page), target.replace(/#.*/, "")).replace(/(?<=.)\/$/, "")

/** The address at which the site, or the repository, has what a link of a page of the repository leads to. */
export const addressOf = (page, target, isPage) => {
  if (isAddress(target)) return target
  const path = target.startsWith("#") ? page : pathOf(page, target)
  const anchor = /#.*/.exec(target)?.[0] ?? ""
  if (isPage(path)) return `${site}${path}${anchor}`
  const kind = posix.extname(path) === "" ? "tree" : "blob"
  return `https://github.com/effect-mcp/effect-mcp/${kind}/main/${path}${anchor}`
}

const entities = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'" }
const valuesOf = (text, attributes) =>
  Array.from(
    text.matchAll(new RegExp(`\\s(?:${attributes})="([^"]*)"`, "g")),
    ([, value]) => value.replace(/&(?:amp|lt|gt|quot|#39);/g, (one) => entities[one])
  )

/**
 * The links of built pages, and of `others`, by path and text, that lead nowhere: to no file of `folder`, to no anchor of one, or to nothing
 * of the repository at `at`. Addresses elsewhere are not looked at.
 */
export const deadLinks = (folder, at, others = []) => {
  const read = (path) => readFileSync(posix.join(folder, path), "utf8")
  const files = new Set(filesUnder(folder, ".", () => true))
  const pages = [...files].filter((path) => path.endsWith(".html")).map((path) => ({ path, text: read(path) }))
  const anchors = new Map(pages.map(({ path, text }) => [path, new Set(valuesOf(text, "id|name"))]))
  const lost = (target, page) => {
    if (repository.test(target)) return !existsSync(posix.join(at, target.replace(repository, "").replace(/#.*/, "")))
    if (isAddress(target) && !target.startsWith(site)) return false
    const own = target.startsWith(site) ? target.slice(site.length) : target
    const [, anchor] = own.split("#")
    const path = decodeURI(own.startsWith("#") || own === "" ? page : pathOf(target === own ? page : "index.html", own))
    if (!files.has(path)) return !files.has(posix.join(path, "index.html"))
    const known = anchors.get(path.replace(/\.md$/, ".html"))
    return anchor !== undefined && anchor !== "" && known !== undefined && !known.has(decodeURIComponent(anchor))
  }
  const dead = (path, targets) =>
    [...new Set(targets)].filter((target) => lost(target, path)).map((target) => `${path}: dead link: ${target}`)
  return [
    ...pages.flatMap(({ path, text }) => dead(path, valuesOf(text, "href|src"))),
    ...others.flatMap(({ path, text }) =>
      dead(
        path,
        proseOf(text).flatMap(({ text }) => linksOf(text).map(({ target }) => target))
          .filter((target) => target.startsWith(site))
      )
    )
  ]
}
