/**
 * A scheduler that takes the next step of any fiber at random, the same for the same seed, for version 4. It finds the
 * interleavings that a test does not think of. Each fiber has its own dispatcher: all of them take from the same tasks.
 */
import * as Scheduler from "effect/Scheduler"

/** Numbers from 0 to 1 that are the same for the same seed. */
export const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

/** Takes one of the tasks that wait, and makes fibers yield anywhere. */
export const randomScheduler = (next: () => number): Scheduler.Scheduler => {
  const waiting: Array<() => void> = []
  const inner = new Scheduler.MixedScheduler("async").makeDispatcher()
  const one = (): void => waiting.splice(Math.floor(next() * waiting.length), 1)[0]?.()
  return {
    executionMode: "async",
    shouldYield: () => next() < 0.02,
    makeDispatcher: () => ({
      scheduleTask: (task) => {
        waiting.push(task)
        inner.scheduleTask(one, 0)
      },
      flush: () => {
        while (waiting.length > 0) one()
      }
    })
  }
}
