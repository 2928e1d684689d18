// No stage of continuous integration can fail unseen, and all of them keep within the 72 minutes that there are.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { describe, it } from "node:test"
import { root } from "./workspace.mjs"

const text = readFileSync(`${root}/.ci/run`, "utf8")
const stages = [...text.matchAll(/^\s*stage (\S+) "([^"]+)"/gm)].map(([, minutes, heading]) => ({ minutes, heading }))

describe("continuous integration", () => {
  it("gives each stage a limit in minutes", () => {
    assert.ok(stages.length >= 6)
    for (const { heading, minutes } of stages) assert.match(minutes, /^[1-9]\d*$/, heading)
  })

  const functions = text.slice(text.indexOf("set -euo"), text.indexOf("tests=$(")).replace(/^cd .*$/m, "")
  const run = (...lines) =>
    spawnSync("bash", ["-c", [functions, ...lines].join("\n")], { encoding: "utf8", timeout: 30_000 })

  it("ends with the first stage that fails, and has its tests know that none may be skipped", () => {
    const { status, stdout } = run(
      "stage 5 Good bash -c '[ $CI = true ]'",
      "stage 5 Bad bash -c 'exit 3'",
      "stage 5 Next true"
    )
    assert.equal(status, 3)
    assert.match(stdout, /^=== Good: passed[\s\S]*^=== Bad: FAILED \(status 3\)/m)
    assert.doesNotMatch(stdout, /Next/)
  })

  it("ends within 72 minutes, whatever its stages do", () => {
    const { status, stdout } = run("SECONDS=4319", "stage 5 Late sleep 60")
    assert.equal(status, 124)
    assert.match(stdout, /^=== Late: FAILED \(status 124\)/m)
  })
})
