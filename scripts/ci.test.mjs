// The limits of the stages of continuous integration, added up, keep within the hour that it has.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, it } from "node:test"
import { root } from "./workspace.mjs"

const text = readFileSync(`${root}/.ci/run`, "utf8")
const stages = [...text.matchAll(/^\s*stage (\S+) "([^"]+)"/gm)].map(([, minutes, heading]) => ({ minutes, heading }))

describe("continuous integration", () => {
  it("ends within an hour, whatever its stages do", () => {
    assert.ok(stages.length >= 6)
    for (const { heading, minutes } of stages) assert.match(minutes, /^[1-9]\d*$/, heading)
    assert.ok(stages.reduce((sum, { minutes }) => sum + Number(minutes), 0) <= 60)
  })

  it("runs the tests on other versions of Node, too", () => {
    assert.ok(stages.some(({ heading }) => heading === "Versions of Node"))
  })
})
