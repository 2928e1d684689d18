/**
 * Runs an effect in many orders of its fibers. Each run stops one fiber at another of its steps, for so long that the other fibers get as
 * far as they can without it. The tests of several packages use this module.
 */
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"

export interface Options {
  /** The distance between the steps at which runs stop a fiber. Default: 1. */
  readonly stride?: number
  /** About the most runs, at equal distances. Default: as many as there are steps. */
  readonly runs?: number
}

/** For how many turns of the scheduler a fiber stops. */
const TURNS = 12

const scheduler = Scheduler.defaultScheduler

export const preempted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { runs = Number.POSITIVE_INFINITY, stride = 1 }: Options = {}
): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    for (let at = 0, steps = 1; at < steps; at += Math.max(stride, steps / runs)) {
      let step = 0
      let stopped: unknown, waiting: Array<() => void> | undefined
      const later = (task: () => void, turns: number): void =>
        turns === 0 ? task() : scheduler.scheduleTask(() => later(task, turns - 1), 0)
      yield* Effect.withScheduler(effect, {
        shouldYield: (fiber) => {
          if (step++ !== Math.floor(at)) return false
          stopped = fiber
          return 0
        },
        scheduleTask: (task, priority, fiber) => {
          if (fiber === undefined && waiting !== undefined) return void waiting.push(task)
          if (fiber === undefined || fiber !== stopped) return scheduler.scheduleTask(task, priority, fiber)
          stopped = undefined
          const tasks: Array<() => void> = waiting = [() => waiting = undefined, task]
          later(() => tasks.forEach((one) => one()), TURNS)
        }
      })
      steps = step
    }
  })
