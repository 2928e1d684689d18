/**
 * A scheduler that takes the next step of any fiber at random, the same for the same seed. It finds the interleavings that a
 * test does not think of.
 */
import { Scheduler } from "effect"

/** Numbers from 0 to 1 that are the same for the same seed. */
export const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

/** Takes one of the fibers that wait, each with its tasks in order, and makes fibers yield anywhere. */
export const randomScheduler = (next: () => number): Scheduler.Scheduler => {
  const waiting: Array<{ readonly fiber: unknown; readonly tasks: Array<() => void> }> = []
  return {
    shouldYield: () => next() < 0.02 ? 0 : false,
    scheduleTask: (task, _, fiber) => {
      const known = waiting.find((one) => one.fiber === fiber)
      if (known === undefined) waiting.push({ fiber, tasks: [task] })
      else known.tasks.push(task)
      Scheduler.defaultScheduler.scheduleTask(() => {
        const at = Math.floor(next() * waiting.length)
        const { tasks } = waiting[at]!
        const first = tasks.shift()!
        if (tasks.length === 0) waiting.splice(at, 1)
        first()
      }, 0)
    }
  }
}
