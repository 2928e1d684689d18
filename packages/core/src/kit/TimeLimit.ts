/**
 * Waits with a time limit. `call` limits an effect whose result the caller needs. `end` limits an effect that must not delay a close. No
 * other module uses the functions `Effect.timeout…`: in a finalizer they may wait for ever, because a finalizer cannot be interrupted, and
 * the effect that it waits for cannot be interrupted there, either.
 *
 * `call` and `end` cost one fiber and one timer each. For limits on every message, `Deadlines` needs only one timer for all messages.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as EffectInternals from "./EffectInternals.js"

/** How long closing waits by default. */
export const CLOSE: Duration.DurationInput = "5 seconds"

/**
 * Runs the effect. When the limit has passed, interrupts the effect, waits for its end, and returns the result of `late`. Therefore the
 * limit does not work for an effect that cannot be interrupted.
 */
export const call: {
  <B, E2, R2>(
    limit: Duration.DurationInput,
    late: () => Effect.Effect<B, E2, R2>
  ): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A | B, E | E2, R | R2>
  <A, E, R, B, E2, R2>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.DurationInput,
    late: () => Effect.Effect<B, E2, R2>
  ): Effect.Effect<A | B, E | E2, R | R2>
} = dual(
  3,
  <A, E, R, B, E2, R2>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.DurationInput,
    late: () => Effect.Effect<B, E2, R2>
  ): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.flatten(Effect.timeoutTo(effect, {
      duration: limit,
      onSuccess: (value): Effect.Effect<A | B, E2, R2> => Effect.succeed(value),
      onTimeout: late
    }))
)

/**
 * Runs the effect, and returns its value. When the limit has passed, interrupts the effect and returns `None`, without waiting for the end
 * of the effect. The effect is interruptible, also in a finalizer. Parts that the effect itself makes uninterruptible go on after the
 * limit.
 */
export const end: {
  (limit: Duration.DurationInput): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
  <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<Option.Option<A>, E, R>
} = dual(
  2,
  <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<Option.Option<A>, E, R> => {
    const limited = Effect.timeoutOption(Effect.interruptible(Effect.disconnect(effect)), limit)
    // Without `disconnect`, an interruption of this fiber would reach the inner fibers, which can be interrupted although this fiber
    // cannot.
    return Effect.checkInterruptible((isInterruptible) => isInterruptible ? limited : Effect.disconnect(limited))
  }
)

/** The least time in milliseconds that each end may take, although earlier ends have used up the common limit. */
const LEAST = 250

/** Returns a function like `end` for several effects that follow one another. They have one limit together, which starts now. */
export const shared = (
  limit: Duration.DurationInput
): Effect.Effect<<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>> =>
  Effect.map(now, (began) => (effect) =>
    Effect.flatMap(now, (at) => end(effect, Math.max(LEAST, Duration.toMillis(limit) - (at - began)))))

/** The time in milliseconds of a clock that does not jump. */
const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/**
 * Waits for the exit of a fiber, at most for `limit`; `undefined` when the fiber still runs then. The fiber is not interrupted. Default
 * limit: `CLOSE`.
 */
export const exit = <A, E>(
  fiber: Fiber.RuntimeFiber<A, E>,
  limit: Duration.DurationInput = CLOSE
): Effect.Effect<Exit.Exit<A, E> | undefined> =>
  Effect.suspend(() => {
    const exit = EffectInternals.exitOf(fiber)
    return exit === undefined
      // Uninterruptible, because an interruption that is pending would end the wait at once.
      ? Effect.map(Effect.uninterruptible(end(Fiber.await(fiber), limit)), Option.getOrUndefined)
      : Effect.succeed(exit)
  })
