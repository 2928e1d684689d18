/**
 * `SealKeys` over one text that all nodes share in a store, and that is replaced by compare-and-set: of two nodes that replace a
 * key that is due, one succeeds. The secrets are stored as they are.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { generate, type Rotation, type SealKey, SealKeysError, type SealKeysService } from "../SealKeys.js"

export interface Ring {
  /** The text; empty when there is none. */
  readonly read: Effect.Effect<string, { readonly message: string }>
  /** Replaces the text that was read, unless another node has replaced it. The new one is needed for so many milliseconds. */
  readonly swap: (before: string, after: string, ttl: number) => Effect.Effect<unknown, { readonly message: string }>
}

interface Stored {
  readonly id: string
  readonly secret: string
  /** Since when it seals, in milliseconds since 1970. */
  readonly from: number
}

/** How often unknown ids may make a node read the keys again: so many at once, and then one a second. */
const READS = 10

export const make = (ring: Ring, rotation: Rotation): SealKeysService => {
  const every = Duration.toMillis(rotation.every ?? "1 day")
  const keep = Duration.toMillis(rotation.keep ?? "1 hour")
  // The newest first, as this node has read them last.
  let known: ReadonlyArray<Stored> = []
  let reads = READS
  let readAt = 0
  const opens = ({ from }: Stored, now: number) => now < from + every + keep
  const read = Effect.map(ring.read, (text) => {
    known = text === "" ? [] : JSON.parse(text) as ReadonlyArray<Stored>
    return text
  })
  const seals = (now: number) => known.find(({ from }) => now < from + every)
  const rotate: Effect.Effect<Stored, { readonly message: string }> = Effect.gen(function*() {
    const before = yield* read
    const now = yield* Clock.currentTimeMillis
    const current = seals(now)
    if (current !== undefined) return current
    const { id, secret } = yield* generate
    const next: Stored = { id, secret: Encoding.encodeBase64(Redacted.value(secret)), from: now }
    const all = JSON.stringify([next, ...known.filter((key) => opens(key, now))])
    yield* ring.swap(before, all, Math.ceil(every + keep))
    // Another node may have been faster.
    return yield* rotate
  })
  const find = (id: string, now: number) => known.find((key) => key.id === id && opens(key, now))
  const mayRead = (now: number) => {
    reads = Math.min(READS, reads + Math.max(0, now - readAt) / 1000)
    readAt = now
    if (reads < 1) return false
    reads--
    return true
  }
  return {
    current: Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const current = seals(now)
      return Effect.map(current === undefined ? Effect.mapError(rotate, unavailable) : Effect.succeed(current), toKey)
    }),
    find: (id) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const found = find(id, now)
        if (found !== undefined) return Effect.succeed(Option.some(toKey(found)))
        if (!mayRead(now)) return Effect.succeed(Option.none())
        return Effect.map(
          Effect.mapError(read, unavailable),
          () => Option.map(Option.fromNullable(find(id, now)), toKey)
        )
      })
  }
}

const toKey = ({ id, secret }: Stored): SealKey => ({
  id,
  // A node of this server has encoded it.
  secret: Redacted.make(Either.getOrThrow(Encoding.decodeBase64(secret)))
})

const unavailable = ({ message }: { readonly message: string }): SealKeysError =>
  new SealKeysError({ message: `The keys cannot be read: ${message}` })
