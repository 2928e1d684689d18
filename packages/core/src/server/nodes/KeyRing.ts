/**
 * `SealKeys` over one text that all nodes share in a store (`RedisSealKeys`, `SqlSealKeys`), and that is replaced by compare-and-set: of
 * two nodes that replace a key that is due, one node succeeds. The secrets are stored as they are. Keys are replaced, and what they seal
 * expires, by the clock of the store: the clocks of two nodes may differ.
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
  /** Replaces the text that was read, unless another node has replaced it. The new text is needed for so many milliseconds. */
  readonly swap: (before: string, after: string, ttl: number) => Effect.Effect<unknown, { readonly message: string }>
}

/** How often unknown ids may make a node read the keys again: so many at once, and then one a second. */
const READS = 10

/** How many elements that this node cannot read stay when a node replaces a key. */
const MAX_OTHERS = 10

const none = [[], []] as const

/** What this node knows of the store. All times are milliseconds; times of the store are milliseconds since 1970. */
interface Self extends Ring {
  readonly every: number
  readonly keep: number
  /** Logs that the text of the store cannot be read. */
  readonly report: (key: string) => Effect.Effect<void>
  /** The newest first, as this node has read them last. `readRing` writes the fields from here to `ahead`. */
  known: ReadonlyArray<Stored.Key>
  /** What another version of this library may have written, and can read. */
  others: ReadonlyArray<unknown>
  /** By how much the clock of the store is ahead of the clock of this process, which nobody sets. */
  ahead: number | undefined
  /** How many reads unknown ids may cause now, and when they were counted; `mayRead` writes both. */
  reads: number
  readAt: number
}

export const make = (ring: Ring, rotation: Rotation): SealKeysService => {
  const self: Self = {
    ...ring,
    every: Duration.toMillis(rotation.every ?? "1 day"),
    keep: Duration.toMillis(rotation.keep ?? "1 hour"),
    report: Stored.reporter(),
    known: [],
    others: [],
    ahead: undefined,
    reads: READS,
    readAt: 0
  }
  return { now: now(self), current: current(self), find: (id) => find(self, id) }
}

const current = (self: Self): Effect.Effect<SealKey, SealKeysError> =>
  Effect.flatMap(now(self), (at) => {
    const current = sealing(self, at)
    return Effect.map(
      current === undefined ? Effect.mapError(rotate(self), unavailable) : Effect.succeed(current),
      toKey
    )
  })

const find = (self: Self, id: string): Effect.Effect<Option.Option<SealKey>, SealKeysError> =>
  Effect.flatMap(now(self), (at) => {
    const found = opening(self, id, at)
    if (found !== undefined) return Effect.succeed(Option.some(toKey(found)))
    if (!mayRead(self, at)) return Effect.succeed(Option.none())
    return Effect.map(
      Effect.mapError(readRing(self), unavailable),
      () => Option.map(Option.fromNullable(opening(self, id, at)), toKey)
    )
  })

const uptime = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** The time of the store. It is read once, and with the keys. */
const now = (self: Self): Effect.Effect<number, SealKeysError> =>
  Effect.suspend(() =>
    Effect.zipRight(
      self.ahead === undefined ? Effect.mapError(readRing(self), unavailable) : Effect.void,
      Effect.map(uptime, (at) => at + self.ahead!)
    )
  )

/** Reads the keys and the time of the store, and gives the text. */
const readRing = (self: Self): Effect.Effect<string, { readonly message: string }> =>
  Effect.flatMap(Effect.zip(self.read, uptime), ([{ text, time }, at]) => {
    self.ahead = time - at
    const keys = text === "" ? none : Stored.keys(text)
    ;[self.others, self.known] = keys ?? none
    const readable = self.others.length > 0 ? undefined : keys
    return Effect.as(Stored.orReport(readable, self.report, "the keys that seal"), text)
  })

/** Replaces the key that is due, unless another node was faster. Gives the key that seals then. */
const rotate = Effect.fnUntraced(function*(self: Self) {
  while (true) {
    const before = yield* readRing(self)
    const at = yield* now(self)
    const current = sealing(self, at)
    if (current !== undefined) return current
    const { id, secret } = yield* generate
    const next: Stored.Key = { id, secret: Encoding.encodeBase64(Redacted.value(secret)), from: at }
    const known = self.known.filter((key) => opens(self, key, at))
    const all = JSON.stringify([next, ...known, ...self.others.slice(0, MAX_OTHERS)])
    yield* self.swap(before, all, Math.ceil(self.every + self.keep))
    // Another node may have been faster.
  }
})

/** The key that seals at a time of the store. */
const sealing = ({ every, known }: Self, now: number) => known.find(({ from }) => now < from + every)

/** The key with this id, if it opens at a time of the store. */
const opening = (self: Self, id: string, now: number) =>
  self.known.find((key) => key.id === id && opens(self, key, now))

const opens = ({ every, keep }: Self, { from }: Stored.Key, now: number): boolean => now < from + every + keep

const mayRead = (self: Self, now: number): boolean => {
  self.reads = Math.min(READS, self.reads + Math.max(0, now - self.readAt) / 1000)
  self.readAt = now
  if (self.reads < 1) return false
  self.reads--
  return true
}

const toKey = ({ id, secret }: Stored.Key): SealKey => ({
  id,
  // It was decoded once to be known.
  secret: Redacted.make(Either.getOrThrow(Encoding.decodeBase64(secret)))
})

const unavailable = ({ message }: { readonly message: string }): SealKeysError =>
  new SealKeysError({ message: `The keys cannot be read: ${message}` })
