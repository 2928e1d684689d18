/**
 * Lets an effect end although nothing waits for it any more, for a limited time. An authorization server that accepts a refresh
 * token once has taken it when the request arrives: without the response, the user would have to log in again.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const LIMIT = "5 seconds"

/** Interrupting it waits until the effect has ended, or the time is over. */
export const finish = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDaemon(Effect.interruptible(effect)),
      (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.zipRight(
            Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), LIMIT),
            Fiber.interrupt(fiber)
          ))
    )
  )
