/**
 * An effect that runs once for all that run it at the same time: they get the same exit. It is interrupted when the last of
 * them is. `Effect.cached` would keep the exit, and the first caller's interruption would reach the others.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

interface Run<A, E> {
  readonly exit: Deferred.Deferred<A, E>
  waiting: number
}

export const make = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let running: Run<A, E> | undefined
  let fiber: Fiber.RuntimeFiber<unknown> | undefined

  const start = (one: Run<A, E>) =>
    Effect.map(Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(effect, one.exit))), (started) => {
      fiber = started
      started.addObserver(() => {
        if (running === one) running = undefined
      })
    })

  return Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const isFirst = running === undefined
      const one = running ??= { exit: Deferred.unsafeMake<A, E>(FiberId.none), waiting: 0 }
      one.waiting++
      const leave = Effect.suspend(() => {
        if (--one.waiting > 0 || running !== one) return Effect.void
        running = undefined
        return fiber === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(fiber))
      })
      return Effect.zipRight(
        isFirst ? start(one) : Effect.void,
        Effect.ensuring(restore(Deferred.await(one.exit)), leave)
      )
    })
  )
}
