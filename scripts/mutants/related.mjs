// Which tests reach a module, nearest first: those with its name, those of its folder, of its package, of other packages; of each
// the ones with the fewest imports between them and the module. Reads imports at run time, and the fixtures that tests name.
import { existsSync } from "node:fs"
import { basename, dirname, join, posix } from "node:path"

const imports = /^(?:import|export)\s+(?!type\b)[^"]*?"([^"\n]+)"|\bimport\(\s*"([^"\n]+)"/gm
const named = /"([\w./-]+\.(?:ts|mjs))"/g

/** `Authorization.scopes.test.ts` has the names of two modules. */
const namesOf = (path) => basename(path).toLowerCase().split(".").slice(0, -1)

const isTest = (path) => path.endsWith(".test.ts")

/** Packages of a workspace (see `readWorkspace`) to a function from a module's path to the tests that reach it. */
export const related = ({ packages, root }) => {
  const files = new Map(packages.flatMap(({ modules, tests }) => [...modules, ...tests]).map((one) => [one.path, one]))
  const exported = new Map()
  for (const { manifest, path } of packages) {
    for (const [at, conditions] of Object.entries(manifest?.exports ?? {})) {
      const source = conditions?.["@effect-mcp/source"]
      if (source !== undefined) exported.set(posix.join(manifest.name, at), posix.join(path, source))
    }
  }
  const resolve = (from, specifier) => {
    if (!specifier.startsWith(".")) return exported.get(specifier)
    return posix.join(dirname(from), specifier).replace(/\.js$/, ".ts")
  }
  const importers = new Map()
  const link = (from, to) => {
    if (to !== undefined && to !== from) importers.set(to, [...importers.get(to) ?? [], from])
  }
  for (const { path, text } of files.values()) {
    for (const [, one, other] of text.matchAll(imports)) link(path, resolve(path, one ?? other))
    if (!path.includes("/test/")) continue
    const fixtures = `${path.split("/").slice(0, 2).join("/")}/test/fixtures`
    for (const [, name] of text.matchAll(named)) {
      for (const at of [posix.join(dirname(path), name), posix.join(fixtures, name)]) {
        if (files.has(at) || existsSync(join(root, at))) link(path, at)
      }
    }
  }
  return (module) => {
    const distances = new Map([[module, 0]])
    for (const [path, distance] of distances) {
      for (const importer of importers.get(path) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1)
      }
    }
    const [, own, , ...inside] = module.split("/")
    const folder = ["packages", own, "test", ...inside.slice(0, -1), ""].join("/")
    const rank = (path) => {
      const isBeside = inside.length > 1 && path.startsWith(folder)
      const isNamed = namesOf(path).includes(namesOf(module)[0])
      if (isNamed && path.startsWith(`packages/${own}/`)) return isBeside ? 0 : 1
      return isBeside ? 2 : path.startsWith(`packages/${own}/`) ? 3 : 4
    }
    return [...distances].filter(([path]) => isTest(path)).map(([path, distance]) => ({
      path,
      distance,
      rank: rank(path)
    }))
      .sort((a, b) =>
        a.rank - b.rank || a.distance - b.distance || files.get(a.path).text.length - files.get(b.path).text.length
      )
      .map(({ path }) => path)
  }
}
