// Continuous integration keeps within the hour that it has.
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

  it("ends within an hour, whatever its stages do", () => {
    const functions = text.slice(text.indexOf("set -euo"), text.indexOf("tests=$(")).replace(/^cd .*$/m, "")
    const { status, stdout } = spawnSync("bash", ["-c", `${functions}\nSECONDS=3559\nstage 5 Late sleep 60`], {
      encoding: "utf8",
      timeout: 30_000
    })
    assert.equal(status, 124)
    assert.match(stdout, /^=== Late: FAILED \(status 124\)/m)
  })

  it("skips no test", () => assert.match(text, /^export CI=true$/m))

  it("runs the tests on other versions of Node, too", () => {
    assert.ok(stages.some(({ heading }) => heading === "Versions of Node"))
  })
})
