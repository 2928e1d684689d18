/**
 * What was left behind by what ran in a scope: fibers, timers on Effect's clock, and processes that have a mark among their
 * arguments.
 */
import { assert } from "@effect/vitest"
import type { Clock, Duration, Scope } from "effect"
import { Effect, Supervisor } from "effect"
import { randomUUID } from "node:crypto"
import { pidsOf } from "./Fixture.js"

const counting = (clock: Clock.Clock) => {
  let sleeping = 0
  const counted: Clock.Clock = Object.create(clock, {
    sleep: {
      value: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping++),
          () => clock.sleep(duration),
          () => Effect.sync(() => sleeping--)
        )
    }
  })
  return { counted, sleeping: () => sleeping }
}

/** A turn of the event loop. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Runs it, with a mark for the processes that it launches, in a scope of its own, and finds nothing of it afterwards. */
export const leavesNothing = <A, E, R>(
  effect: (mark: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.gen(function*() {
    const mark = randomUUID()
    const supervisor = yield* Supervisor.track
    const { counted, sleeping } = counting(yield* Effect.clock)
    const result = yield* Effect.scoped(effect(mark)).pipe(Effect.withClock(counted), Effect.supervised(supervisor))
    // Closing has waited for the processes; what was interrupted last still has to be scheduled.
    assert.deepStrictEqual(pidsOf(mark), [], "processes left behind")
    for (let i = 0; i < 100 && (yield* supervisor.value).length > 0; i++) yield* turn
    assert.strictEqual((yield* supervisor.value).length, 0, "fibers left behind")
    assert.strictEqual(sleeping(), 0, "timers left behind")
    return result
  })
