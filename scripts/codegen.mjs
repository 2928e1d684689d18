// Writes what follows from the layout of each library: `src/index.ts`, and `exports` of its package.json; and `etc/api/unstable.md`.
// The files at the top of `src`, or of an area, are the public modules. Modules in folders are hidden; those that the sources of another
// published package import are exported under `./unstable/`, in a package with areas under `./unstable/<area>/`. `--check` writes nothing
// and exits 1 when a file is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import {
  areas,
  eras,
  hiddenAreas,
  platforms,
  programs,
  publishesEras,
  readWorkspace,
  root,
  scope
} from "./workspace.mjs"

/** Packages without a barrel, and why. */
export const NO_BARREL = { core: "loads the server for clients and the client for servers" }

/** Public modules that the barrel leaves out, and why: importing the barrel must not load these dependencies. */
export const OFF_BARREL = {
  "ai/ToolSearch": "loads minisearch, which programs without a search do not need",
  "auth/node/CredentialDirectory": "needs Node",
  "auth/node/LoopbackBrowser": "needs Node",
  "extensions/apps/AppsClient": "loads the client, which servers do not need",
  "extensions/apps/AppsServer": "loads the server, which hosts do not need",
  "extensions/skills/SkillsClient": "loads the client, which servers do not need",
  "extensions/skills/SkillsServer": "loads the server and the file system of @effect/platform",
  "redis/RedisCredentialStore": "loads @effect-mcp/auth, which servers do not need",
  "sql/PgNodes": "loads @effect/sql-pg, which servers over SQLite do not need",
  "sql/SqlCredentialStore": "loads @effect-mcp/auth, which servers do not need",
  "workflow/ClusterEngine": "loads @effect/cluster and @effect/sql, which programs over the memory engine do not need",
  "testing/TestAuthorizationServer": "loads jose and @effect/platform, which tests without authorization do not need"
}

const byCodePoint = (a, b) => a < b ? -1 : a > b ? 1 : 0

/** Whether applications may import a module: it stands at the top of `src`, or in a published folder of an era or a platform. */
export const isPublic = (pkg, module) => {
  const [area, ...rest] = areas[pkg.name] === undefined ? [undefined, ...module.split("/")] : module.split("/")
  if (rest.length === 1) return rest[0] !== "index" && !hiddenAreas.includes(area)
  if (rest.length !== 2) return false
  return (publishesEras.includes(area) && eras.includes(rest[0])) || platforms[pkg.name]?.includes(rest[0]) === true
}

/** The path that applications import a public module under: without its area, unless the area is a vocabulary of its own. */
export const pathOf = (pkg, module) => {
  const [area, ...rest] = module.split("/")
  return areas[pkg.name] === undefined || publishesEras.includes(area) ? module : rest.join("/")
}

const publicModules = (pkg) =>
  pkg.modules.map(({ module }) => module).filter((module) => isPublic(pkg, module))
    .sort((a, b) => a.split("/").length - b.split("/").length || byCodePoint(a, b))

/** The text of a package's barrel. */
export const barrelOf = (pkg) => {
  const modules = publicModules(pkg).filter((module) => OFF_BARREL[`${pkg.name}/${module}`] === undefined)
  const description = pkg.manifest?.description ?? pkg.name
  const head = `/**\n * ${description}.\n *\n * @since 0.1.0\n */\n`
  if (modules.length === 0) return `${head}export {}\n`
  return head + modules.map((module) => `export * as ${module.split("/").at(-1)} from "./${module}.js"\n`).join("")
}

const entry = (module) => ({
  "@effect-mcp/source": `./src/${module}.ts`,
  types: `./dist/${module}.d.ts`,
  import: `./dist/${module}.js`,
  default: `./dist/${module}.js`
})

/** The name of a hidden module after `unstable/`: its file's, behind its area if it has one. */
const unstableName = (pkg, module) => {
  const parts = module.split("/")
  return areas[pkg.name] === undefined ? parts.at(-1) : `${parts[0]}/${parts.at(-1)}`
}

/** The hidden modules of a package that the sources of other published packages import: `{ name, module, users }`. */
const unstableOf = (pkg, packages) => {
  const users = new Map()
  const pattern = new RegExp(`"${scope}${pkg.name}/unstable/((?:[a-z]+/)?[A-Za-z0-9]+)"`, "g")
  for (const other of packages) {
    if (other.name === pkg.name || programs.includes(other.name)) continue
    for (const { text } of other.modules) {
      for (const [, name] of text.matchAll(pattern)) users.set(name, (users.get(name) ?? new Set()).add(other.name))
    }
  }
  return [...users.keys()].sort(byCodePoint).flatMap((name) => {
    const found = pkg.modules.filter(({ module }) => !isPublic(pkg, module) && unstableName(pkg, module) === name)
    return found.length === 1 ? [{ name, module: found[0].module, users: [...users.get(name)].sort(byCodePoint) }] : []
  })
}

/** The text of `etc/api/unstable.md`: every hidden module that is exported, and the packages that import it. */
const unstableReport = (packages) => {
  const rows = packages.flatMap((pkg) =>
    unstableOf(pkg, packages).map(({ name, users }) => `| \`${pkg.name}/unstable/${name}\` | ${users.join(", ")} |\n`)
  )
  return "# Modules without a promise\n\nWritten by `npm run codegen`. The packages on the right import these modules of another package. All packages " +
    "have the same version. Any release may change these modules.\n\n" +
    `| module of ${scope} | imported by |\n|---|---|\n${rows.join("")}`
}

/** The `exports` of a package's manifest. */
export const exportsOf = (pkg, packages) => ({
  "./package.json": "./package.json",
  ...(NO_BARREL[pkg.name] === undefined ? { ".": entry("index") } : {}),
  ...Object.fromEntries(publicModules(pkg).map((module) => [`./${pathOf(pkg, module)}`, entry(module)])),
  ...Object.fromEntries(unstableOf(pkg, packages).map(({ module, name }) => [`./unstable/${name}`, entry(module)]))
})

/** What differs, line by line without order: enough to see which module came or went. */
const difference = (before, after) => {
  const missing = (from, to) => {
    const left = new Map()
    for (const line of to) left.set(line, (left.get(line) ?? 0) + 1)
    return from.filter((line) => {
      const count = left.get(line) ?? 0
      left.set(line, count - 1)
      return count <= 0
    })
  }
  const [old, fresh] = [before, after].map((text) => text.split("\n"))
  const changes = [
    ...missing(old, fresh).map((line) => `  - ${line}`),
    ...missing(fresh, old).map((line) => `  + ${line}`)
  ].filter((line) => /[^\s*/+-]/.test(line))
  if (changes.length === 0) return ["  (the order or the layout)"]
  return changes.length > 12 ? [...changes.slice(0, 12), `  … and ${changes.length - 12} lines`] : changes
}

/** The paths that two public modules of a package have: one of the modules could not be imported. */
const collisionsOf = (pkg) => {
  const paths = publicModules(pkg).map((module) => pathOf(pkg, module))
  return paths.filter((path, index) => paths.indexOf(path) !== index)
    .map((path) => `${pkg.path}/package.json: two public modules have the path ${path}: rename one`)
}

/** The generated files of a workspace: `{ path, stale, before, after }`. */
export const generated = (at = root) => {
  const { packages } = readWorkspace(at)
  const file = (path, after) => {
    const before = existsSync(join(at, path)) ? readFileSync(join(at, path), "utf8") : undefined
    return { path, before, after, stale: before !== after }
  }
  const libraries = packages.filter(({ library, modules }) => library && modules.length > 0)
  return [file("etc/api/unstable.md", unstableReport(packages))].concat(libraries.flatMap((pkg) => [
    ...(NO_BARREL[pkg.name] === undefined ? [file(`${pkg.path}/src/index.ts`, barrelOf(pkg))] : []),
    ...(pkg.manifest === undefined || pkg.manifest.broken !== undefined ? [] : [
      file(
        `${pkg.path}/package.json`,
        `${JSON.stringify({ ...pkg.manifest, exports: exportsOf(pkg, packages) }, null, 2)}\n`
      )
    ])
  ]))
}

/** Writes or checks; gives the lines to print and whether all is well. */
export const codegen = (at, check) => {
  const all = generated(at)
  const collisions = readWorkspace(at).packages.filter(({ library }) => library).flatMap(collisionsOf)
  const stale = all.filter((one) => one.stale)
  const lines = stale.flatMap(({ after, before, path }) => {
    if (!check) {
      mkdirSync(dirname(join(at, path)), { recursive: true })
      writeFileSync(join(at, path), after)
      return [`${path}: written`]
    }
    return before === undefined
      ? [`${path}: missing: run npm run codegen`]
      : [`${path}: stale: run npm run codegen`, ...difference(before, after)]
  })
  return {
    lines: [...collisions, ...lines, `${all.length} generated files, ${stale.length} ${check ? "stale" : "written"}`],
    ok: collisions.length === 0 && (!check || stale.length === 0)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = codegen(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
