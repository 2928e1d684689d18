/**
 * Combines the announcements of several changes of an `EntryTable`, for `Registry`. An announcement is a function that tells listeners of a
 * change. During a batch, announcements wait. When the batch has ended, each announcement runs one time. A fiber that code starts during a
 * batch may continue after the batch. Such a fiber's announcements after the batch run immediately.
 */
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** Runs an effect as a batch. Inside of another batch, the announcements wait for the end of the outer batch. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(EffectInternals.valueOf(current), (outer) => {
    if (outer !== undefined && outer.isOpen) return effect
    const batch: Batch = { isOpen: true, waiting: new Set() }
    return Effect.ensuring(
      EffectInternals.withValue(effect, current, batch),
      Effect.sync(() => {
        batch.isOpen = false
        for (const announce of batch.waiting) announce()
      })
    )
  })

/** Announces a change: now, or at the end of the batch. */
export const add = (announce: () => void): Effect.Effect<void> =>
  Effect.map(EffectInternals.valueOf(current), (batch) => {
    if (batch?.isOpen === true) batch.waiting.add(announce)
    else announce()
  })

interface Batch {
  isOpen: boolean
  readonly waiting: Set<() => void>
}

const current = EffectInternals.local<Batch | undefined>("@effect-mcp/core/server/features/ChangeBatch", undefined)
