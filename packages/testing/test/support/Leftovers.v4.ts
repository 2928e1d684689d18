/**
 * Counts the fibers, and the timers on Effect's clock, that an effect leaves behind when its scope has closed, for version 4. The tests of
 * several packages use this module.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"

export interface Left {
  readonly fibers: number
  readonly timers: number
}

/** A clock that counts the fibers that sleep on it. */
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

/** Runs an effect in its own scope. `left` counts what is left at the moment. */
export const observe = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<
  { readonly exit: Exit.Exit<A, E>; readonly left: Effect.Effect<Left> },
  never,
  Exclude<R, Scope.Scope>
> =>
  Effect.gen(function*() {
    let fibers = 0
    const counter: Metric.FiberRuntimeMetricsService = {
      recordFiberStart: () => void fibers++,
      recordFiberEnd: () => void fibers--
    }
    const { counted, sleeping } = counting(yield* Clock.Clock)
    const exit = yield* Effect.exit(Effect.scoped(effect)).pipe(
      Effect.provideService(Clock.Clock, counted),
      Effect.provideService(Metric.FiberRuntimeMetrics, counter)
    )
    return { exit, left: Effect.sync(() => ({ fibers, timers: sleeping() })) }
  })

/** Waits for at most `most` turns until nothing is left: fibers that were just interrupted still have to run. */
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

/** Runs an effect in its own scope, and dies when a fiber or a timer is left. */
export const leavesNothing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.gen(function*() {
    const { exit, left } = yield* observe(effect)
    const { fibers, timers } = yield* settled(left, ({ fibers, timers }) => fibers + timers === 0, {
      most: 100,
      turn: Effect.yieldNow
    })
    const value = yield* exit
    return fibers + timers === 0
      ? value
      : yield* Effect.die(new Error(`${fibers} fibers and ${timers} timers are left`))
  })
