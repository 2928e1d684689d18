// Runs every example of packages/examples/examples.json as a user would, from the root of the repository: exit code 0
// within a minute, and the expected words on stdout. An example that is not in the list fails, as does a listed one that
// is not there. A Debian package that an example `needs` is installed where this may be done. With `--runtimes`, Bun and Deno
// run those that name them under `also`, too. Run the build first.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./workspace.mjs"

const home = "packages/examples"

const LIMIT = 60_000

/** What is wrong with the list itself. */
const misfits = (at, list) => {
  const folders = existsSync(join(at, home, "src"))
    ? readdirSync(join(at, home, "src"), { withFileTypes: true }).filter((one) => one.isDirectory()).map((one) =>
      one.name
    )
    : []
  const errors = folders
    .filter((name) => !list.some(({ command }) => command?.[0]?.startsWith(`dist/${name}/`)))
    .map((name) => `${home}/src/${name}: add it to ${home}/examples.json`)
  for (const { command, expect, name } of list) {
    if (typeof name !== "string" || !Array.isArray(command) || typeof command[0] !== "string") {
      errors.push(`${home}/examples.json: an entry needs a name and a command: ${JSON.stringify({ name, command })}`)
    } else if (!Array.isArray(expect) || expect.length === 0) {
      errors.push(`${name}: say in "expect" what it prints`)
    } else if (!existsSync(join(at, home, command[0]))) {
      errors.push(`${name}: ${home}/${command[0]} is not there: build it, or remove it from examples.json`)
    }
  }
  if (list.length === 0) errors.push(`${home}/examples.json: empty: there is nothing to run`)
  return errors
}

/** The Debian packages that are installed for an example. */
const packages = ["chromium"]

/** Installs the package of a program that is not there, as root; gives what is wrong. */
const provide = (program) => {
  const found = () => process.env[program.toUpperCase()] ?? spawnSync("which", [program], { encoding: "utf8" }).stdout
  if (found()) return undefined
  if (packages.includes(program) && process.getuid?.() === 0) {
    const apt = "apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
    const install = `${apt} update && ${apt} install -y --no-install-recommends ${program}`
    spawnSync("bash", ["-c", install], { stdio: ["ignore", "ignore", "inherit"], timeout: 150_000 })
  }
  return found()
    ? undefined
    : `needs ${program}: install it, or set ${program.toUpperCase()} to its path and run again`
}

/** One example in a process group of its own, so that none of its children outlives the limit. */
const run = (at, { command, expect }, limit, [program, ...before] = [process.execPath]) =>
  new Promise((resolve) => {
    const [file, ...args] = command
    const child = spawn(program, [...before, join(home, file), ...args], {
      cwd: at,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    let late = false
    const timer = setTimeout(() => {
      late = true
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {
        // It has ended; a child of its own, in another group, still holds the pipes.
      }
      child.stdout.destroy()
      child.stderr.destroy()
    }, limit)
    child.stdout.setEncoding("utf8").on("data", (text) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text) => stderr += text)
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      const missing = expect.filter((words) => !stdout.includes(words))
      const problem = late
        ? `did not end within ${limit / 1000} s, or left a child behind`
        : code !== 0
        ? `ended with ${signal ?? `exit code ${code}`}`
        : missing.length > 0
        ? `did not print ${missing.map((words) => JSON.stringify(words)).join(", ")}`
        : undefined
      resolve({ problem, output: `${stdout}${stderr}` })
    })
  })

/** Runs them all, or those that a runtime runs also; prints a line each and gives whether all is well. */
export const examples = async (at = root, { limit = LIMIT, print = console.log, runtime } = {}) => {
  const path = join(at, home, "examples.json")
  if (!existsSync(path)) {
    print(`${home}/examples.json: missing`)
    return false
  }
  const all = JSON.parse(readFileSync(path, "utf8"))
  const list = runtime === undefined ? all : all.filter(({ also = [] }) => also.includes(runtime.name))
  const errors = misfits(at, all)
  if (errors.length > 0) {
    errors.forEach((error) => print(error))
    return false
  }
  let failed = 0
  for (const example of list) {
    const lacking = example.needs === undefined ? undefined : provide(example.needs)
    const start = performance.now()
    const { output, problem } = lacking === undefined
      ? await run(at, example, limit, runtime?.program)
      : { output: "", problem: lacking }
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    print(`${problem === undefined ? "ok  " : "FAIL"} ${example.name} (${seconds} s)${problem ? `: ${problem}` : ""}`)
    if (problem !== undefined) {
      failed++
      print(output)
    }
  }
  print(`${list.length} examples, ${failed} failed`)
  return failed === 0 && list.length > 0
}

/** Other runtimes, as npm installs them. A runtime that cannot be installed, or that runs nothing, is a failure. */
const runtimes = [
  { name: "bun", program: ["@oven/bun-linux-x64/bin/bun"] },
  { name: "deno", program: ["@deno/linux-x64-glibc/deno", "run", "--allow-all", "--quiet"] }
]

const onRuntimes = async () => {
  const folder = join(root, "scripts/runtimes")
  if (spawnSync("npm", ["ci"], { cwd: folder, stdio: "inherit" }).status !== 0) return false
  let ok = true
  for (const { name, program: [path, ...args] } of runtimes) {
    const program = [join(folder, "node_modules", path), ...args]
    const { stdout } = spawnSync(program[0], ["--version"], { encoding: "utf8" })
    console.log(`\n--- ${name}: ${stdout === null ? "it is not there" : stdout.trim().split("\n")[0]}`)
    ok = stdout !== null && await examples(root, { runtime: { name, program } }) && ok
  }
  return ok
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const ok = await examples()
  if (!(process.argv.includes("--runtimes") ? await onRuntimes() && ok : ok)) process.exitCode = 1
}
