/**
 * Runs tests twice: under Effect's scheduler, and under a scheduler that runs a fiber inside of the call that wakes it, as version 4 of
 * Effect does. Code that wakes a fiber before it has set its own state, or that wakes a chain of fibers by calling itself, fails under
 * the second one. The tests of several packages use this module.
 *
 * Only a fiber that waits is run at once: for a value, for the end of another fiber, or until it is interrupted. A fiber that begins,
 * and a fiber that yields, run when Effect's scheduler says so: in version 4, too. Not the same as in version 4: a fiber that has
 * yielded, or that has not begun, is interrupted when it runs next.
 */
import type { RuntimeFiber } from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as vitest from "vitest"

const { defaultScheduler } = Scheduler

/** Effect has no public name for this: what a fiber waits for, until it is resumed. */
const waits = (fiber: RuntimeFiber<unknown, unknown>): boolean =>
  (fiber as unknown as { readonly _asyncBlockingOn: unknown })._asyncBlockingOn !== null

/** Runs a fiber that waits inside of the call that wakes it, and leaves all else to `later`. */
const atOnce =
  (later: Scheduler.Scheduler["scheduleTask"]): Scheduler.Scheduler["scheduleTask"] => (task, priority, fiber) =>
    fiber !== undefined && waits(fiber) ? task() : later(task, priority, fiber)

/**
 * `describe` of vitest, for tests that hold wherever a woken fiber runs. Fibers of any runtime are woken at once, so the scheduler of the
 * process is changed, and changed back after the tests.
 */
export const describe = (name: string, tests: () => void): void => {
  vitest.describe(name, tests)
  vitest.describe(`${name}, woken at once`, () => {
    vitest.beforeAll(() => {
      const { scheduleTask } = defaultScheduler
      defaultScheduler.scheduleTask = atOnce((...task) => scheduleTask.apply(defaultScheduler, task))
      return () => {
        defaultScheduler.scheduleTask = scheduleTask
      }
    })
    tests()
  })
}
