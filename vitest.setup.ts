/**
 * Before each file of tests: `layer` of `@effect/vitest` changes the methods of `it` for all files that the same process runs after
 * it. They are those with the `TestClock` again. Properties get the same values in each run, so that a second one finds the same
 * failure; `EFFECT_MCP_TEST_LONG` gives them others each time.
 *
 * A test that keeps the event loop from turning ends the run: `scripts/watchdog.mjs`, which is started once for each process, learns
 * from here that the event loop turns, and which test runs. `EFFECT_MCP_TEST_WATCHDOG` is its limit in milliseconds.
 */
import { it, makeMethods } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { Worker } from "node:worker_threads"
import { beforeEach, expect } from "vitest"

makeMethods(it)

const isLong = process.env.EFFECT_MCP_TEST_LONG !== undefined

if (!isLong) FastCheck.configureGlobal({ seed: 20260728 })

/** How many bytes of the name of a test are kept. */
const MAX_NAME = 1024

/** Starts the watchdog of this process, and gives what tells it which test runs. */
const watch = (): (test: string) => void => {
  const limit = Number(process.env.EFFECT_MCP_TEST_WATCHDOG ?? (isLong ? 1_200_000 : 120_000))
  // How often the event loop has turned, how many bytes the name has, and the name.
  const shared = new SharedArrayBuffer(8 + MAX_NAME)
  const state = new Int32Array(shared, 0, 2)
  const name = Buffer.from(shared, 8)
  setInterval(() => Atomics.add(state, 0, 1), limit / 40).unref()
  new Worker(new URL("scripts/watchdog.mjs", import.meta.url), { workerData: { limit, shared } }).unref()
  return (test) => Atomics.store(state, 1, name.write(test))
}

const ofProcess = globalThis as { runs?: (test: string) => void }
const runs = ofProcess.runs ??= watch()
const { testPath } = expect.getState()
runs(`none of ${testPath}`)

beforeEach(() => {
  runs(`${expect.getState().currentTestName} (${testPath})`)
  // A turn of the event loop between two tests: some are synchronous and long, and the worker must answer vitest meanwhile.
  return new Promise<void>((resolve) => setImmediate(resolve))
})
