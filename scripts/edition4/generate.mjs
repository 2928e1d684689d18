// Writes the edition for Effect 4 into a folder: the packages, each module by the codemod or, where `X.v4.ts` stands beside `X.ts`, as it was
// written by hand. Judges nothing: what it counts is for edition4.mjs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { BY_HAND, filesUnder, root, scope } from "../workspace.mjs"
import { EFFECT3, newCounts, shimsOf, transform } from "./codemod.mjs"

/** The packages whose sources must have no type errors. */
export const packages = ["core", "node", "testing", "auth"]

/** The tests that are written for version 4, and what they import. vitest.config.mjs says which of them run. */
export const tests = [
  "packages/core/test/kit",
  "packages/core/test/jsonrpc",
  "packages/core/test/protocol",
  "packages/core/test/definition",
  "packages/core/test/server",
  "packages/core/test/client",
  "packages/testing/test/support"
]

const effect3 = `packages/core/src/kit/${EFFECT3}`

/** The module that has what only tests name. */
const EFFECT3_TESTS = "Effect3Tests"
const effect3Tests = `packages/testing/test/support/${EFFECT3_TESTS}`

const isTest = (path) => tests.some((folder) => path.startsWith(`${folder}/`))

const isSource = (name) => name.endsWith(".ts")

/** How a module imports those that have what version 4 has not. */
export const byHandFor = (path) => {
  const relativeTo = (module) => {
    const to = relative(dirname(path), module)
    return `${to.startsWith(".") ? to : `./${to}`}.js`
  }
  const isInCore = path.startsWith("packages/core/")
  return {
    [EFFECT3]: isInCore ? relativeTo(effect3) : `${scope}core/unstable/kit/${EFFECT3}`,
    ...isTest(path) ? { [EFFECT3_TESTS]: relativeTo(effect3Tests) } : {}
  }
}

/** Lines that are neither empty nor comments. */
export const codeLines = (text) =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").split("\n").filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length

/** The modules of the edition: their paths, their texts, and whether they were written by hand. */
export const modulesOf = (at = root) => {
  const folders = [...packages.map((name) => `packages/${name}/src`), ...tests]
  const paths = folders.flatMap((folder) => filesUnder(at, folder, isSource))
  const byHand = new Set(paths.filter((path) => path.endsWith(BY_HAND)))
  const read = (path) => readFileSync(join(at, path), "utf8")
  const ofSources = shimsOf(read(`${effect3}${BY_HAND}`))
  const shims = new Map([...ofSources, ...shimsOf(read(`${effect3Tests}${BY_HAND}`), EFFECT3_TESTS)])
  const counts = newCounts()
  const shimsFor = (path) => isTest(path) ? shims : ofSources
  const modules = paths.flatMap((path) => {
    // The types of another library know nothing of Effect.
    if (path.endsWith(".d.ts")) return [{ path, text: read(path), isByHand: false }]
    if (byHand.has(path.replace(/\.ts$/, BY_HAND))) return []
    if (byHand.has(path)) return [{ path: path.replace(BY_HAND, ".ts"), text: read(path), isByHand: true }]
    const text = transform(path, read(path), { counts, shims: shimsFor(path), byHand: byHandFor(path) })
    return [{ path, text, isByHand: false }]
  })
  return { modules, counts, shims, shimsFor }
}

/** The manifest of a package, with the modules that only version 4 has. */
const manifestOf = (at, name, modules) => {
  const manifest = JSON.parse(readFileSync(join(at, `packages/${name}/package.json`), "utf8"))
  for (const { isByHand, path } of modules) {
    if (!isByHand || !path.startsWith(`packages/${name}/src/`) || existsSync(join(at, path))) continue
    const module = path.slice(`packages/${name}/src/`.length, -".ts".length)
    manifest.exports[`./unstable/${module}`] = { "@effect-mcp/source": `./src/${module}.ts` }
  }
  return {
    name: manifest.name,
    private: true,
    type: manifest.type,
    exports: manifest.exports,
    imports: manifest.imports
  }
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`

/** Writes the modules and what they need beside them. */
export const write = (to, modules, at = root) => {
  rmSync(join(to, "packages"), { recursive: true, force: true })
  for (const { path, text } of modules) {
    mkdirSync(join(to, dirname(path)), { recursive: true })
    writeFileSync(join(to, path), text)
  }
  mkdirSync(join(to, "node_modules", scope), { recursive: true })
  for (const name of packages) {
    writeFileSync(join(to, `packages/${name}/package.json`), json(manifestOf(at, name, modules)))
    for (const path of filesUnder(at, `packages/${name}/src`, (file) => file.endsWith(".json"))) {
      cpSync(join(at, path), join(to, path))
    }
    const link = join(to, "node_modules", scope, name)
    rmSync(link, { recursive: true, force: true })
    symlinkSync(join(to, "packages", name), link)
  }
}
