// Everything that can be known without running the product: two stages at a time, the compiler first, because others read what it
// builds, and beside it the cheapest first. One line per stage when it ends; the first failure ends all with its output.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { filesUnder, root } from "./workspace.mjs"

const node = process.execPath
const script = (name, ...args) => [node, [join("scripts", name), ...args]]
const tool = (path, ...args) => [node, [join("node_modules", path), ...args]]
const selfTests = filesUnder(root, "scripts", (name) => name.endsWith(".test.mjs"))
const sources = filesUnder(root, "packages", () => true).map((path) => path.split("/").slice(0, 3).join("/"))
  .filter((path) => path.endsWith("/src"))

/** Stages that read what the compiler builds. */
const ofBuild = new Set(["public API", "methods", "docs", "tarballs"])

const stages = [
  ["types", tool("typescript/bin/tsc", "-b", "tsconfig.json")],
  ["rules", script("rules.mjs")],
  [
    "imports",
    tool(
      "dependency-cruiser/bin/dependency-cruise.mjs",
      "--config",
      ".dependency-cruiser.mjs",
      ...new Set(sources)
    )
  ],
  ["generated", script("codegen.mjs", "--check")],
  ["lock files", script("lock.mjs")],
  ["unused", tool("knip/bin/knip.js", "--no-progress")],
  ["unused but in tests", tool("knip/bin/knip.js", "--no-progress", "--production")],
  ["lint", tool("eslint/bin/eslint.js", ".", "--max-warnings", "0")],
  ["scripts", [node, ["--test", "--test-reporter=spec", ...selfTests]]],
  ["public API", script("api.mjs", "--check")],
  ["methods", script("methods.mjs", "--check")],
  ["options", script("options.mjs", "--check")],
  ["pictures", script("pictures.mjs", "--check")],
  ["pages", script("pages.mjs")],
  ["walk", script("walk.mjs", "--check")],
  ["docs", script("docs.mjs")],
  ["tarballs", script("packages.mjs", "--dry-run")]
]

const LANES = 2

const begin = performance.now()
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`

const running = new Map()
const ended = new Set()

const run = (name, [command, args]) =>
  new Promise((resolve) => {
    const start = performance.now()
    // A group of its own, so that a failure elsewhere ends it with all that it started.
    const child = spawn(command, args, { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    running.set(name, child)
    let out = ""
    let err = ""
    child.stdout.setEncoding("utf8").on("data", (text) => out += text)
    child.stderr.setEncoding("utf8").on("data", (text) => err += text)
    const end = (status, why) => {
      running.delete(name)
      ended.add(name)
      resolve({ name, isOk: status === 0, took: seconds(start), lines: out.trim().split("\n"), err: err.trim(), why })
    }
    child.on("error", (error) => end(1, error.message))
    child.on("close", (status, signal) => end(status, signal ?? ""))
  })

const stop = () => {
  for (const { pid } of running.values()) {
    try {
      process.kill(-pid, "SIGKILL")
    } catch {
      // It has ended.
    }
  }
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130))
process.on("exit", stop)

const waiting = [...stages]
/** The run of the compiler, when it has begun. */
const compiled = []
const lane = async () => {
  while (waiting.length > 0) {
    const at = waiting.findIndex(([name]) => !ofBuild.has(name) || ended.has("types"))
    if (at === -1) {
      await Promise.all(compiled)
      continue
    }
    const [[name, command]] = waiting.splice(at, 1)
    const ending = run(name, command)
    if (name === "types") compiled.push(ending)
    const { err, isOk, lines, took, why } = await ending
    console.log(`${isOk ? "ok  " : "FAIL"} ${name.padEnd(20)} ${took.padStart(7)}`)
    if (!isOk) {
      console.log([...lines, err, why].filter((one) => one !== "").join("\n"))
      process.exit(1)
    }
    // What did not fail but should be seen.
    for (const line of lines) {
      if (/: notice: |: not checked$/.test(line)) console.log(`     ${line}`)
    }
  }
}
await Promise.all(Array.from({ length: LANES }, lane))
console.log(`All checks passed in ${seconds(begin)}`)
