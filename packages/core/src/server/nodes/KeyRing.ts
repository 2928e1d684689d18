/**
 * Makes `SealKeys` from one text that all nodes share in a store (for `RedisSealKeys` and `SqlSealKeys`). The text contains the keys. A
 * node replaces the text only if no other node has changed the text since this node read it. So when two nodes replace an old key at the
 * same time, only one of them succeeds. The store contains the secrets without encryption. The clock of the store decides when a key is
 * replaced and when a sealed state expires, because the clocks of two nodes may differ.
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
  /** Gives the text, and the time of the store in milliseconds since 1970. The text is empty when the store has no text. */
  readonly read: Effect.Effect<{ readonly text: string; readonly time: number }, { readonly message: string }>
  /**
   * Replaces the text `before`. Does nothing when the store has another text. `ttl` is how long the store must keep the new text, in
   * milliseconds.
   */
  readonly swap: (before: string, after: string, ttl: number) => Effect.Effect<unknown, { readonly message: string }>
}

/**
 * When a state names an unknown key, the node reads the keys again. It does this at most this many times in a row, and after that at most
 * once a second.
 */
const READS = 10

/** How many unreadable elements of the text a node keeps when it replaces a key. */
const MAX_OTHERS = 10

const none = [[], []] as const

/** The state of a node. All times are in milliseconds. Times of the store are in milliseconds since 1970. */
interface Self extends Ring {
  readonly every: number
  readonly keep: number
  /** Logs that this node cannot read the text of the store. */
  readonly report: (key: string) => Effect.Effect<void>
  /** The keys of the last read, the newest first. `readRing` writes the fields from here to `ahead`. */
  known: ReadonlyArray<Stored.Key>
  /** The elements of the text that this node cannot read. Another version of this library may have written these elements. */
  others: ReadonlyArray<unknown>
  /**
   * The time of the store minus the time of the process's monotonic clock, which nobody can set; `undefined` before the first read.
   */
  ahead: number | undefined
  /** How many reads unknown ids may cause now, and when this number was computed. `mayRead` writes the two fields. */
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

/** Gives the time of the store. Reads the store only if this node has not read the keys before. */
const now = (self: Self): Effect.Effect<number, SealKeysError> =>
  Effect.suspend(() =>
    Effect.zipRight(
      self.ahead === undefined ? Effect.mapError(readRing(self), unavailable) : Effect.void,
      Effect.map(uptime, (at) => at + self.ahead!)
    )
  )

/** Reads the keys and the time of the store. Gives the text. */
const readRing = (self: Self): Effect.Effect<string, { readonly message: string }> =>
  Effect.flatMap(Effect.zip(self.read, uptime), ([{ text, time }, at]) => {
    self.ahead = time - at
    const keys = text === "" ? none : Stored.keys(text)
    ;[self.others, self.known] = keys ?? none
    const readable = self.others.length > 0 ? undefined : keys
    return Effect.as(Stored.orReport(readable, self.report, "the keys that seal"), text)
  })

/** Replaces the current key when it is too old, if no other node has already replaced it. Gives the new current key. */
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

/** Finds the key with which nodes seal at a time of the store. */
const sealing = ({ every, known }: Self, now: number) => known.find(({ from }) => now < from + every)

/** Finds the key with this id, if nodes may still open states with it at a time of the store. */
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
  // The secret was already decoded once, so decoding cannot fail.
  secret: Redacted.make(Either.getOrThrow(Encoding.decodeBase64(secret)))
})

const unavailable = ({ message }: { readonly message: string }): SealKeysError =>
  new SealKeysError({ message: `The keys cannot be read: ${message}` })
