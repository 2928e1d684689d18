/**
 * A limit for effects that run at the same time: at most `max` run, the others wait for their turn in order. A caller that
 * can wait waits in `awaitSpace` while many wait already; a caller that cannot is never refused.
 *
 * `HttpConnection` has one limiter for requests and one for all other messages.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export interface Limiter {
  /** Runs an effect when its turn comes. It counts as waiting from the first step on. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Waits until fewer effects wait than the capacity. */
  readonly awaitSpace: Effect.Effect<void>
  /** Runs an effect during which no other effect gets its turn. */
  readonly hold: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const make = (max: number, capacity: number): Limiter => {
  const permits = Effect.unsafeMakeSemaphore(max)
  const notFull = Effect.unsafeMakeLatch(true)
  const notHeld = Effect.unsafeMakeLatch(true)
  let waiting = 0
  let holders = 0

  const isFull = () => waiting >= capacity
  const count = (more: 1 | -1) => {
    waiting += more
    if (isFull()) notFull.unsafeClose()
    else notFull.unsafeOpen()
  }

  // Several fibers wake at once: each looks again, and those that find no space wait once more.
  const awaitSpace = Effect.whileLoop({ while: isFull, body: () => notFull.await, step: () => {} })
  const released = Effect.whileLoop({ while: () => holders > 0, body: () => notHeld.await, step: () => {} })

  const wait = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) => {
      let isWaiting = true
      const stopWaiting = Effect.sync(() => {
        if (isWaiting) count(-1)
        isWaiting = false
      })
      count(1)
      const turn = permits.withPermits(1)(released.pipe(Effect.zipRight(stopWaiting), Effect.zipRight(effect)))
      return Effect.ensuring(restore(turn), stopWaiting)
    })

  return {
    awaitSpace,
    run: (effect) =>
      Effect.suspend(() =>
        waiting > 0 || holders > 0
          ? wait(effect)
          // Most requests find a free permit, and pay for no wait.
          : Effect.flatMap(
            permits.withPermitsIfAvailable(1)(effect),
            Option.match({ onNone: () => wait(effect), onSome: Effect.succeed })
          )
      ),
    hold: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          holders++
          notHeld.unsafeClose()
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            if (--holders === 0) notHeld.unsafeOpen()
          })
      )
  }
}
