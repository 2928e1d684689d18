/**
 * Runs an effect in many orders of its fibers, for version 4. Each run stops one fiber at another of its steps, for so long that the other
 * fibers get as far as they can without it. The tests of several packages use this module.
 */
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"

export interface Options {
  /** The distance between the steps at which runs stop a fiber. Default: 1. */
  readonly stride?: number
  /** About the most runs, at equal distances. Default: as many as there are steps. */
  readonly runs?: number
}

/** For how many turns of the event loop a fiber stops. */
const TURNS = 12

const later = (task: () => void, turns: number): void =>
  turns === 0 ? task() : void setImmediate(() => later(task, turns - 1))

export const preempted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { runs = Number.POSITIVE_INFINITY, stride = 1 }: Options = {}
): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    for (let at = 0, steps = 1; at < steps; at += Math.max(stride, steps / runs)) {
      let step = 0
      let stopped: unknown
      const normal = new Scheduler.MixedScheduler("async")
      const scheduler: Scheduler.Scheduler = {
        executionMode: "async",
        shouldYield: (fiber) => {
          if (step++ !== Math.floor(at)) return normal.shouldYield(fiber)
          stopped = fiber.currentDispatcher
          return true
        },
        makeDispatcher: () => {
          const inner = normal.makeDispatcher()
          const own: Scheduler.SchedulerDispatcher = {
            scheduleTask: (task, priority) => {
              if (stopped !== own) return inner.scheduleTask(task, priority)
              stopped = undefined
              later(task, TURNS)
            },
            flush: () => inner.flush()
          }
          return own
        }
      }
      yield* Effect.provideService(effect, Scheduler.Scheduler, scheduler)
      steps = step
    }
  })
