/**
 * Waiting while closing: for so long and no longer, and not cut short either.
 *
 * `Effect.timeout` in a finalizer is not enough: an interruption of the fiber that runs the finalizer, although it
 * has to let it finish, reaches the children that the timeout waits with.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"

/**
 * What the effect gives, or nothing when it takes longer; then the effect is interrupted. Cannot be interrupted itself.
 *
 * @since 0.1.0
 * @category combinators
 */
export const atMost = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  duration: Duration.DurationInput
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(Effect.timeoutOption(effect, duration))), Fiber.join)
  )
