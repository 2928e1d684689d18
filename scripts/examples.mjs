// Runs every example of packages/examples/examples.json as a user would, from the root of the repository: exit code 0
// within a minute, and the expected words on stdout. An example that is not in the list fails, as does a listed one that
// is not there. Run the build first.
import { spawn } from "node:child_process"
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

/** One example in a process group of its own, so that none of its children outlives the limit. */
const run = (at, { command, expect }, limit) =>
  new Promise((resolve) => {
    const [file, ...args] = command
    const child = spawn(process.execPath, [join(home, file), ...args], {
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

/** Runs them all; prints a line each and gives whether all is well. */
export const examples = async (at = root, { limit = LIMIT, print = console.log } = {}) => {
  const path = join(at, home, "examples.json")
  if (!existsSync(path)) {
    print(`${home}/examples.json: missing`)
    return false
  }
  const list = JSON.parse(readFileSync(path, "utf8"))
  const errors = misfits(at, list)
  if (errors.length > 0) {
    errors.forEach((error) => print(error))
    return false
  }
  let failed = 0
  for (const example of list) {
    const start = performance.now()
    const { output, problem } = await run(at, example, limit)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    print(`${problem === undefined ? "ok  " : "FAIL"} ${example.name} (${seconds} s)${problem ? `: ${problem}` : ""}`)
    if (problem !== undefined) {
      failed++
      print(output)
    }
  }
  print(`${list.length} examples, ${failed} failed`)
  return failed === 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && !(await examples())) process.exitCode = 1
