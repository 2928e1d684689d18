// Writes the pages of the documentation that are made of other files: the texts of errors, the changelog, the pictures, llms.txt and the
// file of all guides. `--check` writes nothing, and fails when one of them is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { changelogOf } from "./pages/changelog.mjs"
import { allOf, guidesOf, llmsOf } from "./pages/llms.mjs"
import { messagesOf } from "./pages/messages.mjs"
import { picturesOf } from "./pages/pictures.mjs"
import { filesUnder, readWorkspace, root } from "./workspace.mjs"

/** The pages by their paths, and what is wrong with the sources of the pages. */
export const pagesOf = async (at = root) => {
  const read = (path) => readFileSync(join(at, path), "utf8")
  const packages = readWorkspace(at).packages.filter(({ library }) => library)
  const { lost, page } = messagesOf(packages.filter(({ name }) => name !== "testing").flatMap(({ modules }) => modules))
  const changesets = filesUnder(at, ".changeset", (name) => name.endsWith(".md")).map((path) => ({
    path,
    text: read(path)
  }))
  const released = packages.filter(({ files }) => files.includes("CHANGELOG.md")).map(({ name }) => name)
  const guides = guidesOf(read("docs/README.md"), read)
  return {
    flaws: lost.map((path) => `${path}: its texts belong to no area of scripts/pages/messages.mjs`),
    pages: new Map([
      ["docs/messages.md", page],
      ["docs/changelog.md", changelogOf(changesets, released)],
      ["llms.txt", llmsOf(read("README.md"), read("docs/recipes.md"), guides)],
      ["docs/all.md", allOf(guides)],
      ...[...await picturesOf(packages, read("docs/architecture.md"))].map((
        [name, svg]
      ) => [`docs/pictures/${name}`, svg])
    ])
  }
}

const main = async (isCheck) => {
  const { flaws, pages } = await pagesOf()
  for (const flaw of flaws) console.log(flaw)
  const stale = [...pages].filter(([path, text]) =>
    !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== text
  )
  for (const [path, text] of stale) {
    if (!isCheck) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    console.log(isCheck ? `${path}: stale: run node scripts/pages.mjs` : `${path} is written`)
  }
  if (flaws.length > 0 || (isCheck && stale.length > 0)) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.includes("--check"))
