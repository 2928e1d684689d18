/**
 * `Effect.raceFirst`, and `Effect.all` with concurrency, for a fiber that may be interrupted at any step. Modules of nearly all packages
 * use these functions. Effect's own functions make each fiber in one step and start the fiber in the next step. After an interruption
 * between these two steps, Effect's functions wait for ever. When test/kit/Race passes with Effect's functions, this module can be deleted.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as EffectInternals from "./EffectInternals.js"

/** Runs two effects. Ends with the exit of the effect that ends first, and interrupts the other effect. */
export const raceFirst = <A, E, R, A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  other: Effect.Effect<A2, E2, R2>
): Effect.Effect<A | A2, E | E2, R | R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.all([Effect.forkDaemon(restore(self)), Effect.forkDaemon(restore(other))]), (fibers) => {
      const first = EffectInternals.deferred<A | A2, E | E2>()
      for (const fiber of fibers) fiber.addObserver((exit) => EffectInternals.done(first, exit))
      return Effect.ensuring(restore(Deferred.await(first)), Fiber.interruptAll(fibers))
    })
  )

/**
 * Runs effects at the same time, at most `limit` of them; the other effects wait. Returns their values in the order of the effects. When an
 * effect fails, the other effects are interrupted.
 */
export const all = <A, E, R>(
  effects: ReadonlyArray<Effect.Effect<A, E, R>>,
  limit = Infinity
): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.suspend(() => {
    const values = new Array<A>(effects.length)
    let next = 0
    const work: Effect.Effect<void, E, R> = Effect.suspend(() => {
      const at = next++
      if (at >= effects.length) return Effect.void
      return Effect.flatMap(effects[at]!, (value) => {
        values[at] = value
        return work
      })
    })
    const workers = Math.min(effects.length, limit)
    return Effect.as(workers <= 1 ? work : together(new Array<typeof work>(workers).fill(work)), values)
  })

const together = <E, R>(effects: ReadonlyArray<Effect.Effect<void, E, R>>): Effect.Effect<void, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forEach(effects, (effect) => Effect.forkDaemon(restore(effect))), (fibers) => {
      const failed = EffectInternals.deferred<never, E>()
      for (const fiber of fibers) {
        fiber.addObserver((exit) => {
          if (exit._tag === "Failure") EffectInternals.done(failed, Effect.failCause(exit.cause))
        })
      }
      const joined = raceFirst(Effect.forEach(fibers, Fiber.join, { discard: true }), Deferred.await(failed))
      return Effect.ensuring(restore(joined), Fiber.interruptAll(fibers))
    })
  )
