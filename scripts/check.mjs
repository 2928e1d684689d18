// Everything that can be known without running the product, cheapest first. One line per stage; the first failure ends
// it with its output.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { filesUnder, root } from "./workspace.mjs"

const node = process.execPath
const script = (name, ...args) => [node, [join("scripts", name), ...args]]
const tool = (path, ...args) => [node, [join("node_modules", path), ...args]]
const selfTests = filesUnder(root, "scripts", (name) => name.endsWith(".test.mjs"))
const sources = filesUnder(root, "packages", () => true).map((path) => path.split("/").slice(0, 3).join("/"))
  .filter((path) => path.endsWith("/src"))

const stages = [
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
  ["types", tool("typescript/bin/tsc", "-b", "tsconfig.json")],
  ["public API", script("api.mjs", "--check")],
  ["methods", script("methods.mjs", "--check")],
  ["deviations", script("deviations.mjs", "--check")],
  ["walk", script("walk.mjs", "--check")],
  ["size", script("size.mjs")],
  ["docs", script("docs.mjs")],
  ["tarballs", script("packages.mjs", "--dry-run")]
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
  console.log(`${ok ? "ok  " : "FAIL"} ${name.padEnd(20)} ${seconds(start).padStart(7)}`)
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
