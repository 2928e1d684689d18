// A thread beside the tests of a process: when the event loop of the tests has not turned for the limit, it says which test runs, and
// kills the process. The time limits of vitest are timers of that event loop, so a test that spins would run for ever.
import { writeSync } from "node:fs"
import process from "node:process"
import { workerData } from "node:worker_threads"

/** How often it looks in the time of the limit. It counts looks, because a process that was stopped for a while has missed none. */
const LOOKS = 20

const { limit, shared } = workerData
const state = new Int32Array(shared, 0, 2)
let seen = -1
let looks = 0

setInterval(() => {
  const turns = Atomics.load(state, 0)
  looks = turns === seen ? looks + 1 : 0
  seen = turns
  if (looks < LOOKS) return
  const test = Buffer.from(shared, 8, Atomics.load(state, 1)).toString()
  writeSync(
    2,
    `\nThe event loop has not turned for ${
      limit / 1000
    } s, and the process is killed. The last test to begin: ${test}\n`
  )
  process.kill(process.pid, "SIGKILL")
}, limit / LOOKS)
