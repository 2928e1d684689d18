/**
 * Changes of an `EntryTable` that are announced together, for `Registry`: what is announced inside of a batch is called once, when the
 * batch has ended. A fiber that was started inside and runs on announces at once from then on.
 */
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** Runs an effect as a batch. A batch inside of another batch is a part of the other batch. */
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
