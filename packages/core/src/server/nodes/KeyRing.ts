/**
 * `SealKeys` over one text that all nodes share in a store, and that is replaced by compare-and-set: of two nodes that replace a
 * key that is due, one succeeds. The secrets are stored as they are. Keys are replaced, and what they seal expires, by the clock of the
 * store: the clocks of two nodes may differ.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { generate, type Rotation, type SealKey, SealKeysError, type SealKeysService } from "../SealKeys.js"
import * as Stored from "./Stored.js"

export interface Ring {
  /** The text, empty when there is none, and the time of the store in milliseconds since 1970. */
  readonly read: Effect.Effect<{ readonly text: string; readonly time: number }, { readonly message: string }>
  /** Replaces the text that was read, unless another node has replaced it. The new one is needed for so many milliseconds. */
  readonly swap: (before: string, after: string, ttl: number) => Effect.Effect<unknown, { readonly message: string }>
}

/** How often unknown ids may make a node read the keys again: so many at once, and then one a second. */
const READS = 10

/** How many elements that this node cannot read stay when a node replaces a key. */
const MAX_OTHERS = 10

const none = [[], []] as const

export const make = (ring: Ring, rotation: Rotation): SealKeysService => {
  const every = Duration.toMillis(rotation.every ?? "1 day")
  const keep = Duration.toMillis(rotation.keep ?? "1 hour")
  // The newest first, as this node has read them last.
  let known: ReadonlyArray<Stored.Key> = []
  // What another version of this library may have written, and can read.
  let others: ReadonlyArray<unknown> = []
  let reads = READS
  let readAt = 0
  // By how much the clock of the store is ahead of that of this process, which nobody sets.
  let ahead: number | undefined
  const report = Stored.reporter()
  const opens = ({ from }: Stored.Key, now: number) => now < from + every + keep
  const uptime = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))
  const read = Effect.flatMap(Effect.zip(ring.read, uptime), ([{ text, time }, at]) => {
    ahead = time - at
    const keys = text === "" ? none : Stored.keys(text)
    ;[others, known] = keys ?? none
    return Effect.as(Stored.orReport(others.length > 0 ? undefined : keys, report, "the keys that seal"), text)
  })
  /** The time of the store. It is read once, and with the keys. */
  const now = Effect.suspend(() =>
    Effect.zipRight(
      ahead === undefined ? Effect.mapError(read, unavailable) : Effect.void,
      Effect.map(uptime, (at) => at + ahead!)
    )
  )
  const seals = (now: number) => known.find(({ from }) => now < from + every)
  const rotate: Effect.Effect<Stored.Key, { readonly message: string }> = Effect.gen(function*() {
    const before = yield* read
    const at = yield* now
    const current = seals(at)
    if (current !== undefined) return current
    const { id, secret } = yield* generate
    const next: Stored.Key = { id, secret: Encoding.encodeBase64(Redacted.value(secret)), from: at }
    const all = JSON.stringify([next, ...known.filter((key) => opens(key, at)), ...others.slice(0, MAX_OTHERS)])
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
    now,
    current: Effect.flatMap(now, (at) => {
      const current = seals(at)
      return Effect.map(current === undefined ? Effect.mapError(rotate, unavailable) : Effect.succeed(current), toKey)
    }),
    find: (id) =>
      Effect.flatMap(now, (at) => {
        const found = find(id, at)
        if (found !== undefined) return Effect.succeed(Option.some(toKey(found)))
        if (!mayRead(at)) return Effect.succeed(Option.none())
        return Effect.map(
          Effect.mapError(read, unavailable),
          () => Option.map(Option.fromNullable(find(id, at)), toKey)
        )
      })
  }
}

const toKey = ({ id, secret }: Stored.Key): SealKey => ({
  id,
  // It was decoded once to be known.
  secret: Redacted.make(Either.getOrThrow(Encoding.decodeBase64(secret)))
})

const unavailable = ({ message }: { readonly message: string }): SealKeysError =>
  new SealKeysError({ message: `The keys cannot be read: ${message}` })
