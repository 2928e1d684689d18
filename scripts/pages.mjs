// Builds what .github/workflows/pages.yml publishes, in build/pages: README.md and the pages of docs, the pages that are made of other files and
// not in the repository (texts of errors, deviations, changelog), the docstrings of the public modules, and for machines llms.txt,
// llms-full.txt and the pages as Markdown. Fails when a link leads nowhere, and when texts of errors belong to no area.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, posix, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import { Application, Converter, KindRouter, ReflectionKind } from "typedoc"
import { isPublic, pathOf as modulePathOf } from "./codegen.mjs"
import { changelogOf } from "./pages/changelog.mjs"
import { deviationsOf, readTable } from "./pages/deviations.mjs"
import { addressOf, deadLinks, isAddress, pathOf, site, withTargets } from "./pages/links.mjs"
import { guidesOf, llmsFullOf, llmsOf } from "./pages/llms.mjs"
import { messagesOf } from "./pages/messages.mjs"
import { filesUnder, readWorkspace, root, scope } from "./workspace.mjs"

const entrance = "docs/README.md"

const markdownUnder = (folder) => filesUnder(root, folder, (name) => name.endsWith(".md"))

const read = (path) => readFileSync(join(root, path), "utf8")

/** The pages by their paths in the repository, in the order of the navigation, and what is wrong with the sources of those that are made. */
const documentsOf = async (packages, guides) => {
  const { lost, page } = messagesOf(packages.filter(({ name }) => name !== "testing").flatMap(({ modules }) => modules))
  const changesets = markdownUnder(".changeset").map((path) => ({ path, text: read(path) }))
  const released = packages.filter(({ files }) => files.includes("CHANGELOG.md")).map(({ name }) => name)
  const paths = new Set(["README.md", entrance, ...guides.map(({ path }) => path), ...markdownUnder("docs")])
  return {
    flaws: lost.map((path) => `${path}: its texts belong to no area of scripts/pages/messages.mjs`),
    documents: new Map([
      ...Array.from(paths, (path) => [path, read(path)]),
      ["docs/messages.md", page],
      ["docs/deviations.md", deviationsOf(await readTable())],
      ["docs/changelog.md", changelogOf(changesets, released)]
    ])
  }
}

/** A page among the others that `isPage` tells: addresses of the site become links to them, and links to other files addresses. */
export const localOf = (page, text, isPage) =>
  withTargets(text, (target) => {
    if (target.startsWith(site) && /\.html(#|$)/.test(target)) {
      return posix.relative(posix.dirname(page), target.slice(site.length).replace(".html", ".md"))
    }
    const isLocal = isAddress(target) || target.startsWith("#") || isPage(pathOf(page, target))
    return isLocal ? target : addressOf(page, target, isPage)
  })

/** Where pages stand that are not where their kind has them. */
const placed = new WeakMap()

class Router extends KindRouter {
  getIdealBaseName(reflection) {
    return placed.get(reflection) ?? super.getIdealBaseName(reflection)
  }
}

/** Has TypeDoc write the documents of a folder and the docstrings of the packages. Whether it had nothing to say. */
const render = async (from, paths, packages, out) => {
  const modules = packages.flatMap((pkg) =>
    pkg.modules.filter(({ module }) => isPublic(pkg, module)).map(({ module, path }) => ({
      path,
      name: `${scope}${pkg.name}/${modulePathOf(pkg, module)}`
    }))
  )
  const names = new Map(modules.map(({ name, path }) => [path.slice(0, -".ts".length), name]))
  const app = await Application.bootstrapWithPlugins({
    entryPoints: modules.map(({ path }) => join(root, path)),
    readme: join(from, "README.md"),
    projectDocuments: paths.filter((path) => path !== "README.md").map((path) => join(from, path)),
    router: "repository",
    out
  })
  app.renderer.defineRouter("repository", Router)
  // TypeDoc names modules and documents by their paths from the root, without extension.
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module)) reflection.name = names.get(reflection.name)
  })
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const path = relative(from, join(root, document.name)).split(sep).join("/")
    placed.set(document, path)
    document.name = /^# (.*)$/m.exec(readFileSync(join(from, `${path}.md`), "utf8"))[1].replaceAll("`", "")
  })
  const project = await app.convert()
  if (project === undefined) return false
  // What a class inherits from a dependency has its source there, not in the repository.
  for (const reflection of Object.values(project.reflections)) {
    reflection.sources = reflection.sources?.filter(({ fullFileName }) => !fullFileName.includes("/node_modules/"))
  }
  app.validate(project)
  await app.generateOutputs(project)
  return !app.logger.hasErrors() && !app.logger.hasWarnings()
}

const main = async () => {
  const [from, out] = ["documents", "pages"].map((name) => join(root, "build", name))
  const packages = readWorkspace().packages.filter(({ library }) => library)
  const guides = guidesOf(read(entrance), read)
  const { documents, flaws } = await documentsOf(packages, guides)
  const isPage = (path) => documents.has(path) || path.startsWith("docs/pictures/")
  for (const folder of [from, out]) rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of documents) {
    mkdirSync(dirname(join(from, path)), { recursive: true })
    writeFileSync(join(from, path), localOf(path, text, isPage))
  }
  cpSync(join(root, "docs/pictures"), join(from, "docs/pictures"), { recursive: true })
  const isRendered = await render(from, [...documents.keys()], packages, out)
  cpSync(from, out, { recursive: true })
  writeFileSync(join(out, "llms.txt"), llmsOf(read("README.md"), read(entrance), isPage))
  writeFileSync(join(out, "llms-full.txt"), llmsFullOf(guides, isPage))
  const others = [
    ...markdownUnder("packages").filter((path) => path.endsWith("/README.md")),
    ...markdownUnder(".github"),
    "build/pages/llms.txt",
    "build/pages/llms-full.txt"
  ]
  const lines = [...flaws, ...deadLinks(out, root, others.map((path) => ({ path, text: read(path) })))]
  for (const line of lines) console.log(line)
  console.log(`${documents.size} documents and the public modules are in build/pages; ${lines.length} flaws`)
  if (!isRendered || lines.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main()
