// Writes what follows from the layout of each library: `src/index.ts`, and `exports` of its package.json.
// The files at the top of `src` are the public modules. Modules in folders are hidden; those that a sibling package
// imports are exported under `./unstable/`, those of jsonrpc's kit under `./unstable/kit/`. `--check` writes nothing and exits 1 when a file is stale.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { eras, publishesEras, readWorkspace, root, scope } from "./workspace.mjs"

/** Public modules that the barrel leaves out, and why: importing the barrel must not load these dependencies. */
export const OFF_BARREL = {
  "node/CredentialDirectory": "loads package auth, which servers do not need",
  "node/LoopbackBrowser": "loads package auth, which servers do not need",
  "apps/AppsClient": "loads package client, which servers do not need",
  "apps/AppsServer": "loads package server, which hosts do not need",
  "client/Remote": "loads the HTTP client of @effect/platform",
  "skills/SkillsClient": "loads package client, which servers do not need",
  "skills/SkillsServer": "loads package server and the file system of @effect/platform",
  "server/HttpEndpoint": "loads the HTTP server of @effect/platform",
  "sql/PgNodes": "loads @effect/sql-pg, which servers over SQLite do not need",
  "testing/TestAuthorizationServer": "loads jose and @effect/platform, which tests without authorization do not need"
}

const title = (word) => word[0].toUpperCase() + word.slice(1)

const byCodePoint = (a, b) => a < b ? -1 : a > b ? 1 : 0

/** Whether applications may import a module: it stands at the top of `src`, or in an era folder that is published. */
export const isPublic = (pkg, module) => {
  const [first, ...rest] = module.split("/")
  if (rest.length === 0) return first !== "index"
  return rest.length === 1 && publishesEras.includes(pkg.name) && eras.includes(first)
}

const publicModules = (pkg) =>
  pkg.modules.map(({ module }) => module).filter((module) => isPublic(pkg, module))
    .sort((a, b) => a.split("/").length - b.split("/").length || byCodePoint(a, b))

const nameOf = (module) => module.includes("/") ? title(module.split("/")[0]) + module.split("/")[1] : module

/** The text of a package's barrel. */
export const barrelOf = (pkg) => {
  const modules = publicModules(pkg).filter((module) => OFF_BARREL[`${pkg.name}/${module}`] === undefined)
  const description = pkg.manifest?.description ?? pkg.name
  const head = `/**\n * ${description}.\n *\n * @since 0.1.0\n */\n`
  if (modules.length === 0) return `${head}export {}\n`
  return head + modules.map((module) => `export * as ${nameOf(module)} from "./${module}.js"\n`).join("")
}

const entry = (module) => ({
  "@effect-mcp/source": `./src/${module}.ts`,
  types: `./dist/${module}.d.ts`,
  import: `./dist/${module}.js`,
  default: `./dist/${module}.js`
})

/** The name of a hidden module after `unstable/`: modules of the kit keep their folder. */
export const unstableName = (module) => module.startsWith("kit/") ? module : module.split("/").at(-1)

/** The hidden modules of a package that other packages import, by the name they import them under. */
const unstableOf = (pkg, packages) => {
  const wanted = new Set()
  const pattern = new RegExp(`"${scope}${pkg.name}/unstable/((?:kit/)?[A-Za-z0-9]+)"`, "g")
  for (const other of packages) {
    if (other.name === pkg.name) continue
    for (const { text } of [...other.modules, ...other.tests]) {
      for (const [, name] of text.matchAll(pattern)) wanted.add(name)
    }
  }
  return [...wanted].sort(byCodePoint).flatMap((name) => {
    const found = pkg.modules.filter(({ module }) => !isPublic(pkg, module) && unstableName(module) === name)
    return found.length === 1 ? [[name, found[0].module]] : []
  })
}

/** The `exports` of a package's manifest. */
export const exportsOf = (pkg, packages) => ({
  "./package.json": "./package.json",
  ".": entry("index"),
  ...Object.fromEntries(publicModules(pkg).map((module) => [`./${module}`, entry(module)])),
  ...Object.fromEntries(unstableOf(pkg, packages).map(([name, module]) => [`./unstable/${name}`, entry(module)]))
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

/** The generated files of a workspace: `{ path, stale, before, after }`. */
export const generated = (at = root) => {
  const { packages } = readWorkspace(at)
  const file = (path, after) => {
    const before = existsSync(join(at, path)) ? readFileSync(join(at, path), "utf8") : undefined
    return { path, before, after, stale: before !== after }
  }
  return packages.filter(({ library, modules }) => library && modules.length > 0).flatMap((pkg) => [
    file(`${pkg.path}/src/index.ts`, barrelOf(pkg)),
    ...(pkg.manifest === undefined || pkg.manifest.broken !== undefined ? [] : [
      file(
        `${pkg.path}/package.json`,
        `${JSON.stringify({ ...pkg.manifest, exports: exportsOf(pkg, packages) }, null, 2)}\n`
      )
    ])
  ])
}

/** Writes or checks; gives the lines to print and whether all is well. */
export const codegen = (at, check) => {
  const all = generated(at)
  const stale = all.filter((one) => one.stale)
  const lines = stale.flatMap(({ after, before, path }) => {
    if (!check) {
      writeFileSync(join(at, path), after)
      return [`${path}: written`]
    }
    return before === undefined
      ? [`${path}: missing: run npm run codegen`]
      : [`${path}: stale: run npm run codegen`, ...difference(before, after)]
  })
  return {
    lines: [...lines, `${all.length} generated files, ${stale.length} ${check ? "stale" : "written"}`],
    ok: !check || stale.length === 0
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = codegen(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
