/**
 * Wakes fibers one after another, for `EffectInternals`, `Outbox`, `SerialQueue`, and what waits for requests and streamed answers. Version
 * 3 of Effect runs a woken fiber later; version 4, and a scheduler that resumes at once, run it inside of the call that wakes it. There a
 * chain of a thousand fibers that wake each other would overflow the stack, and the rest of the fibers would sleep for ever. Here a fiber
 * that is woken by a woken fiber runs when that fiber has stopped.
 *
 * Variables of the process, because a fiber that one part wakes may wake a fiber of any other part. From `at` on, `line` holds what was
 * woken and has not run. `isWaking` is true exactly while an entry of `line` runs, or waits for the next turn of the event loop.
 */
import * as EventLoop from "./EventLoop.js"

/**
 * How many fibers are woken in one turn of the event loop, so that fibers that wake each other for ever do not keep sockets from being
 * read.
 */
const MOST = 2048

const line: Array<() => void> = []
let at = 0
let isWaking = false

const run = (): void => {
  isWaking = true
  try {
    for (let count = 0; at < line.length && count < MOST; count++) line[at++]!()
  } finally {
    // A callback that throws ends the call that has woken it; the other fibers are woken all the same.
    if (at === line.length) line.length = 0
    else line.splice(0, at)
    at = 0
    isWaking = line.length > 0
    if (isWaking) EventLoop.onNextTurn(run)
  }
}

/** Calls `resume`, which wakes a fiber: at once, or inside of a woken fiber, when that fiber has stopped. */
export const wake = (resume: () => void): void => {
  line.push(resume)
  if (!isWaking) run()
}
