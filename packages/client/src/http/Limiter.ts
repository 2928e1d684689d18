/**
 * A limit for effects that run at the same time: at most `max` run, the others wait for their turn in order. A caller that
 * can wait waits in `awaitSpace` while many wait already; a caller that cannot is never refused.
 *
 * `HttpConnection` has one limiter for requests and one for all other messages.
 */
import * as Effect from "effect/Effect"

export interface Limiter {
  /** Runs an effect when its turn comes. It counts as waiting from the first step on. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs an effect that takes no place: it waits only while another one is held. */
  readonly pass: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Waits until fewer effects wait than the capacity. */
  readonly awaitSpace: Effect.Effect<void>
  /** Runs an effect during which no other effect gets its turn. */
  readonly hold: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Not Effect's semaphore: it wakes every waiting fiber at each release, and all but one wait again. `running` counts the
 * effects that run, those that were given their turn included; `queue` holds what gives the others their turn, in order.
 */
export const make = (max: number, capacity: number): Limiter => {
  const queue = new Set<() => void>()
  const notFull = Effect.unsafeMakeLatch(true)
  const notHeld = Effect.unsafeMakeLatch(true)
  let running = 0
  let holders = 0

  const isFull = () => queue.size >= capacity
  const update = () => {
    if (isFull()) notFull.unsafeClose()
    else notFull.unsafeOpen()
  }
  const giveTurns = () => {
    for (const give of queue) {
      if (running >= max || holders > 0) break
      queue.delete(give)
      running++
      give()
    }
    update()
  }
  const release = Effect.sync(() => {
    running--
    if (queue.size > 0) giveTurns()
  })

  const wait = Effect.suspend(() => {
    let hasTurn = false
    let give = () => {}
    return Effect.onError(
      Effect.async<void>((resume) => {
        give = () => {
          hasTurn = true
          resume(Effect.void)
        }
        queue.add(give)
        // Again, because the fiber may have yielded since it found no place, and all others may have ended meanwhile.
        giveTurns()
      }),
      () => {
        if (hasTurn) return release
        queue.delete(give)
        update()
        return Effect.void
      }
    )
  })

  return {
    // Several fibers wake at once: each looks again, and those that find no space wait once more.
    awaitSpace: Effect.whileLoop({ while: isFull, body: () => notFull.await, step: () => {} }),
    run: (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const use = Effect.ensuring(restore(effect), release)
        if (queue.size > 0 || holders > 0 || running >= max) return Effect.zipRight(restore(wait), use)
        running++
        return use
      }),
    pass: (effect) => Effect.suspend(() => holders === 0 ? effect : Effect.zipRight(notHeld.await, effect)),
    hold: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          if (holders++ === 0) notHeld.unsafeClose()
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            if (--holders > 0) return
            notHeld.unsafeOpen()
            giveTurns()
          })
      )
  }
}
