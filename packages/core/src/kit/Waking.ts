/**
 * Wakes fibers one after another, for `EffectInternals`, `Outbox`, `SerialQueue`, and what waits for requests and streamed answers. Version 3
 * of Effect runs a woken fiber later; version 4, and a scheduler that resumes at once, run it inside of the call that wakes it. There a chain
 * of a thousand fibers, each of which wakes the next, would overflow the stack, and the rest of them would sleep for ever. Here a fiber that
 * is woken by a woken fiber runs when that fiber has stopped.
 *
 * Variables of the process, because what one part wakes may wake a fiber of any other: `line` holds what was woken and has not run,
 * from `at` on, and `isWaking` is true exactly while something of it runs, or waits for the next turn of the event loop.
 */
import * as EventLoop from "./EventLoop.js"

/** How many are woken in one turn of the event loop: fibers that wake each other for ever do not keep sockets from being read. */
const MOST = 2048

const line: Array<() => void> = []
let at = 0
let isWaking = false

const run = (): void => {
  isWaking = true
  try {
    for (let count = 0; at < line.length && count < MOST; count++) line[at++]!()
  } finally {
    // What throws ends the call that has woken it, and keeps none of the others asleep.
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
