// Runs the tests of the packages that touch Node on the versions of Node that scripts/nodes installs, each by its path:
// the PATH of this process stays as it is. Tests that start a process take the Node that runs them. A version that cannot
// be installed, or that is not what its name says, is a failure: no version is left out without a word.
//
//   node scripts/nodes.mjs [24] [22] [--all | --brief] [arguments of vitest ...]
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./workspace.mjs"

const home = join(root, "scripts/nodes")

/** The versions besides the oldest one, on which `npm test` runs; the newest first. */
export const majors = ["24", "22"]

/** As in `npm test`. */
const options = ["--no-isolate", "--minWorkers=3", "--maxWorkers=3"]

const run = (projects, ...args) => ["run", ...options, ...projects.flatMap((name) => ["--project", name]), ...args]

/** The packages that touch Node. */
const touching = (...args) => run(["node", "redis", "sql"], ...args)

/** A server over each transport, a client that starts one, and nodes over each engine. */
const smoke = ["StdioServer", "StdioClient", "HttpServer", "NodeHandler", "RedisNodes", "SqlNodes", "PgNodes"]
  .map((name) => `/${name}.test.ts`)

/** Sockets, pipes and processes, which are Node's own, and their faults. */
const system = [
  "/stdio/",
  "/subprocess/",
  "/http/",
  "/Faults.matrix.test.ts",
  "/HttpServer.load.test.ts",
  "/Growth.test.ts"
]

/**
 * Which versions to run, and the arguments of vitest. `--all` is for the tests of every package. `--brief` is for
 * continuous integration: `smoke`, and on the newest version also `system`.
 */
export const parse = (args) => {
  const named = majors.filter((major) => args.includes(major))
  const [isAll, isBrief] = ["--all", "--brief"].map((option) => args.includes(option))
  const rest = args.filter((arg) => !majors.includes(arg) && arg !== "--all" && arg !== "--brief")
  const wanted = named.length > 0 ? named : majors
  const argsOf = (major) => {
    if (isAll) return run([], ...rest)
    if (rest.length > 0 || !isBrief) return touching(...rest)
    return touching(...smoke, ...(major === wanted[0] ? system : []))
  }
  return wanted.map((major) => ({ major, args: argsOf(major) }))
}

/** The name of the package that has a version for a platform. */
export const packageOf = (major, platform = process.platform, arch = process.arch) => `node${major}-${platform}-${arch}`

/** What is wrong with the version that a binary prints; `undefined` when it is the right one. */
export const wrongVersion = (major, printed) =>
  new RegExp(`^v${major}\\.\\d+\\.\\d+$`).test(printed.trim())
    ? undefined
    : `This is not Node ${major}: it prints ${JSON.stringify(printed.trim())}`

const install = () => {
  const lock = join(home, "package-lock.json")
  const installed = join(home, "node_modules/.package-lock.json")
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  console.log(`installing Node ${majors.join(" and ")}`)
  const { status } = spawnSync("npm", ["ci"], { cwd: home, stdio: "inherit" })
  if (status !== 0) throw new Error("The versions of Node could not be installed")
}

/** The path of a version, which has been asked for its number. */
const find = (major) => {
  const path = join(home, "node_modules", packageOf(major), "bin/node")
  if (!existsSync(path)) {
    throw new Error(`There is no ${path}: add ${packageOf(major)} to scripts/nodes/package.json, if npm has it`)
  }
  const { error, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" })
  if (error !== undefined) throw error
  const wrong = wrongVersion(major, stdout)
  if (wrong !== undefined) throw new Error(`${path}: ${wrong}`)
  return { major, path, version: stdout.trim() }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const versions = parse(process.argv.slice(2))
  install()
  for (const { args, path, version } of versions.map(({ args, major }) => ({ ...find(major), args }))) {
    console.log(`\n--- Node ${version}: vitest ${args.join(" ")}`)
    const { error, signal, status } = spawnSync(path, [join(root, "node_modules/vitest/vitest.mjs"), ...args], {
      cwd: root,
      stdio: "inherit"
    })
    if (error !== undefined) throw error
    if (status !== 0) {
      console.log(`--- Node ${version}: FAILED (${signal ?? `status ${status}`})`)
      process.exit(1)
    }
    console.log(`--- Node ${version}: passed`)
  }
}
