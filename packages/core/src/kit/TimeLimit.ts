/**
 * Waits with a limit: `call` for what somebody wants an answer of, `end` for what must not delay a close. No other module uses the
 * functions `Effect.timeout…`, because they wait for ever in a finalizer: a finalizer cannot be interrupted, and neither can what it waits
 * for.
 *
 * Both cost a fiber and a timer. Where every message has a limit, `Deadlines` has one timer for all.
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
 * The effect, or when the limit has passed, what `late` gives. The effect is then interrupted, and its end is waited for: an effect that
 * cannot be interrupted has no limit.
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
 * The effect, or nothing when the limit has passed. The effect is then interrupted, and nobody waits for its end. It can be interrupted,
 * also in a finalizer. What it makes uninterruptible itself goes on.
 */
export const end: {
  (limit: Duration.DurationInput): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
  <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<Option.Option<A>, E, R>
} = dual(
  2,
  <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<Option.Option<A>, E, R> => {
    const limited = Effect.timeoutOption(Effect.interruptible(Effect.disconnect(effect)), limit)
    // An interruption of this fiber would reach the fibers that wait, though this fiber cannot be interrupted.
    return Effect.checkInterruptible((isInterruptible) => isInterruptible ? limited : Effect.disconnect(limited))
  }
)

/** How long an end may take at least, although earlier ends have used up the limit that they share. */
const LEAST = 250

/** For ends that follow one another: they have one limit together, which begins now. */
export const shared = (
  limit: Duration.DurationInput
): Effect.Effect<<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>> =>
  Effect.map(now, (began) => (effect) =>
    Effect.flatMap(now, (at) => end(effect, Math.max(LEAST, Duration.toMillis(limit) - (at - began)))))

/** The milliseconds of a clock that does not jump. */
const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/** The exit of a fiber; `undefined` when the fiber still runs after the limit. The fiber is not interrupted. */
export const exit = <A, E>(
  fiber: Fiber.RuntimeFiber<A, E>,
  limit: Duration.DurationInput = CLOSE
): Effect.Effect<Exit.Exit<A, E> | undefined> =>
  Effect.suspend(() => {
    const exit = EffectInternals.exitOf(fiber)
    return exit === undefined
      // A pending interruption would end the wait at once.
      ? Effect.map(Effect.uninterruptible(end(Fiber.await(fiber), limit)), Option.getOrUndefined)
      : Effect.succeed(exit)
  })
