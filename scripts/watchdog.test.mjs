// A test that keeps the event loop from turning, which no time limit of vitest ends, ends the run with a message.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { describe, it } from "node:test"
import { root } from "./workspace.mjs"

const run = (...args) =>
  spawnSync(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", join(root, "scripts/watchdog"), ...args],
    { encoding: "utf8", env: { ...process.env, EFFECT_MCP_TEST_WATCHDOG: "1000" }, timeout: 120_000 }
  )

const killed = ({ signal, status, stderr }, last) => {
  assert.equal(signal, null)
  assert.equal(status, 1)
  assert.match(stderr, /The event loop has not turned for 1 s, and the process is killed/)
  assert.match(stderr, last)
}

describe("the watchdog of the tests", () => {
  it("ends the run when a test awaits for ever, and names the test", () => {
    killed(run("spins", "-t", "awaits"), /last test to begin: a test > awaits for ever \(.*spins.mjs\)/)
  })

  it("ends the run when a file computes for ever while it is imported, and names the file", () => {
    killed(run("imports"), /last test to begin: none of .*imports.mjs/)
  })

  it("ends no run whose tests take longer than its limit while the event loop turns", () => {
    const { status, stderr } = run("spins", "-t", "lets time pass")
    assert.equal(status, 0, stderr)
  })
})
