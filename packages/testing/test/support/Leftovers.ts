/**
 * What an effect leaves behind when its scope has closed: fibers, and timers on Effect's clock. The tests of all packages use
 * it; those of `node` add what only Node knows.
 */
import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Supervisor from "effect/Supervisor"

export interface Left {
  readonly fibers: number
  readonly timers: number
}

/** The same clock, and how many fibers sleep on it. */
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

/** Runs an effect in a scope of its own. `left` is what is left of it at the moment. */
export const observe = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<
  { readonly exit: Exit.Exit<A, E>; readonly left: Effect.Effect<Left> },
  never,
  Exclude<R, Scope.Scope>
> =>
  Effect.gen(function*() {
    const supervisor = yield* Supervisor.track
    const { counted, sleeping } = counting(yield* Effect.clock)
    const exit = yield* Effect.exit(Effect.scoped(effect)).pipe(
      Effect.withClock(counted),
      Effect.supervised(supervisor)
    )
    return { exit, left: Effect.map(supervisor.value, ({ length }) => ({ fibers: length, timers: sleeping() })) }
  })

/** Waits for so many turns at most until it is clean: fibers that were interrupted last still have to be scheduled. */
export const settled = <A>(
  left: Effect.Effect<A>,
  isClean: (left: A) => boolean,
  { most, turn }: { readonly most: number; readonly turn: Effect.Effect<void> }
): Effect.Effect<A> =>
  Effect.gen(function*() {
    let now = yield* left
    for (let n = 0; n < most && !isClean(now); n++) {
      yield* turn
      now = yield* left
    }
    return now
  })

/** Runs an effect in a scope of its own, and dies when a fiber or a timer is left of it. */
export const leavesNothing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.gen(function*() {
    const { exit, left } = yield* observe(effect)
    const { fibers, timers } = yield* settled(left, ({ fibers, timers }) => fibers + timers === 0, {
      most: 100,
      turn: Effect.yieldNow()
    })
    const value = yield* exit
    return fibers + timers === 0 ? value : yield* Effect.dieMessage(`${fibers} fibers and ${timers} timers are left`)
  })
