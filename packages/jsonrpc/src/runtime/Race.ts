/**
 * `Effect.raceFirst` for a fiber that may be interrupted at any step. Effect's own makes its two fibers one step before it
 * starts them; when it is interrupted in between, it waits for their end, which never comes.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

/** The exit of the effect that ends first; the other is interrupted. */
export const raceFirst = <A, E, R, A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  other: Effect.Effect<A2, E2, R2>
): Effect.Effect<A | A2, E | E2, R | R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.all([Effect.forkDaemon(restore(self)), Effect.forkDaemon(restore(other))]), (fibers) => {
      const first = Deferred.unsafeMake<A | A2, E | E2>(FiberId.none)
      for (const fiber of fibers) fiber.addObserver((exit) => Deferred.unsafeDone(first, exit))
      return Effect.ensuring(restore(Deferred.await(first)), Fiber.interruptAll(fibers))
    })
  )
