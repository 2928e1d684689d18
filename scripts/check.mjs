// Everything that can be known without running the product, cheapest first. One line per stage; the first failure ends
// it with its output.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { filesUnder, root } from "./workspace.mjs"

const node = process.execPath
const script = (name, ...args) => [node, [join("scripts", name), ...args]]
const tool = (path, ...args) => [node, [join("node_modules", path), ...args]]
const test = (...paths) => [node, ["--test", "--test-reporter=spec", ...paths]]
const house = "scripts/rooms.test.mjs"
const selfTests = filesUnder(root, "scripts", (name) => name.endsWith(".test.mjs")).filter((path) => path !== house)

const stages = [
  ["rooms", script("rooms.mjs")],
  ["rules", test(house)],
  ["barrels", script("codegen.mjs", "--check")],
  ["lock file", script("lock.mjs")],
  ["lint", tool("eslint/bin/eslint.js", ".", "--max-warnings", "0")],
  ["scripts", test(...selfTests)],
  ["types", tool("typescript/bin/tsc", "-b", "tsconfig.json")],
  ["methods", script("methods.mjs", "--check")],
  ["docs", script("docs.mjs")]
]

const begin = performance.now()
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`

for (const [name, [command, args]] of stages) {
  const start = performance.now()
  const { error, signal, status, stderr, stdout } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  const ok = status === 0
  const lines = (stdout ?? "").trim().split("\n")
  console.log(`${ok ? "ok  " : "FAIL"} ${name.padEnd(10)} ${seconds(start).padStart(7)}`)
  if (!ok) {
    console.log(
      [...lines, (stderr ?? "").trim(), error?.message ?? "", signal ?? ""].filter((one) => one !== "").join("\n")
    )
    process.exit(1)
  }
  // What did not fail but should be seen.
  for (const line of lines) {
    if (/: notice: |: not checked$/.test(line)) console.log(`     ${line}`)
  }
}
console.log(`All checks passed in ${seconds(begin)}`)
