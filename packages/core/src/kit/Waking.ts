/**
 * Wakes fibers one after another. `EffectInternals`, `Outbox`, `SerialQueue`, and modules that wait for requests or for streamed answers
 * wake their fibers with this module. Version 3 of Effect runs a woken fiber later. Version 4, or a scheduler that resumes at once, runs
 * the fiber inside the call that wakes it. Then a chain of a thousand fibers that wake each other would overflow the stack, and the rest of
 * the fibers would sleep for ever. With this module, when a woken fiber wakes a second fiber, the second fiber runs after the first has
 * stopped.
 *
 * The variables belong to the whole process, because a fiber of one module may wake a fiber of any other module. `line` holds callbacks;
 * those from index `at` on have not been called. `isWaking` is true exactly while a callback runs, or `run` waits for the next turn of the
 * event loop.
 */
import * as EventLoop from "./EventLoop.js"

/**
 * How many fibers `run` wakes in one turn of the event loop. Without this limit, fibers that wake each other for ever would keep the
 * process from reading sockets.
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
    // A callback that throws ends the call of `wake` that runs it. The other fibers are still woken, in the next turn of the event loop.
    if (at === line.length) line.length = 0
    else line.splice(0, at)
    at = 0
    isWaking = line.length > 0
    if (isWaking) EventLoop.onNextTurn(run)
  }
}

/** Calls `resume`, which wakes a fiber. The call happens at once; inside a woken fiber, it happens after that fiber has stopped. */
export const wake = (resume: () => void): void => {
  line.push(resume)
  if (!isWaking) run()
}
