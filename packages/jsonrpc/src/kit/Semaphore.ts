/**
 * Effects of which a limited number run at the same time, in the order in which they came, though any of their fibers may be
 * interrupted at any step. Effect's own semaphore loses its permit when a fiber is interrupted in the step after it took it:
 * https://github.com/Effect-TS/effect/pull/6910 mends version 4 only. When test/runtime/Limits and test/kit/Semaphore pass on
 * Effect's, this part can be deleted.
 *
 * `held` permits are in use; while any is free, nothing waits in `turns`. An effect that ends gives its permit to the first
 * that waits, and a fiber that was interrupted in its turn gives it to the next.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

export interface Semaphore {
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** By default one effect runs at a time. */
export const make = (permits = 1): Semaphore => {
  let held = 0
  const turns = new Set<Deferred.Deferred<void>>()

  const release = Effect.sync((): void => {
    for (const turn of turns) {
      turns.delete(turn)
      return Deferred.unsafeDone(turn, Effect.void)
    }
    held--
  })

  return {
    run: (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const take = Effect.suspend(() => {
          if (held < permits) {
            held++
            return Effect.void
          }
          const turn = Deferred.unsafeMake<void>(FiberId.none)
          turns.add(turn)
          return Effect.onInterrupt(
            restore(Deferred.await(turn)),
            () => Effect.suspend(() => turns.delete(turn) ? Effect.void : release)
          )
        })
        return Effect.zipRight(take, Effect.ensuring(restore(effect), release))
      })
  }
}
