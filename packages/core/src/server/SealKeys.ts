/**
 * The keys that encrypt ("seal") the state of a request between its rounds, with revision 2026-07-28 or later: a question ends the round,
 * and the client sends the request again with its answer and the sealed state. `modern/RequestState` seals and opens. Every node of a
 * server must open what any other node has sealed, so nodes share their keys. Keys are replaced from time to time, and old keys still open
 * for a while.
 *
 * Provide `SealKeys` to the layer of a server that runs on several nodes, or give the server fixed secrets by its option `stateSecrets`.
 * Without either, the server seals with a random key that ends with the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests#security
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** @category models */
export interface SealKey {
  /** Tells keys apart: 1 to 32 letters and digits. The server sends the id to clients, so the id must tell nothing about the secret. */
  readonly id: string
  /** At least 32 bytes. */
  readonly secret: Redacted.Redacted<Uint8Array>
}

/**
 * The keys could not be read.
 *
 * @category errors
 */
export class SealKeysError extends Data.TaggedError("SealKeysError")<{ readonly message: string }> {}

/** @category models */
export interface SealKeysService {
  /** The key that seals at the moment. Every node must find this key by its id. */
  readonly current: Effect.Effect<SealKey, SealKeysError>
  /**
   * The key with this id, if it has been the current key and is not too old. Clients choose the ids that they send, so looking for an
   * unknown id must cost little, however often it happens.
   */
  readonly find: (id: string) => Effect.Effect<Option.Option<SealKey>, SealKeysError>
  /**
   * The time that decides whether sealed state has expired, in milliseconds since 1970. Give it where the clocks of nodes may differ.
   * Default: the clock of the node.
   */
  readonly now?: Effect.Effect<number, SealKeysError> | undefined
}

/** @category tags */
export class SealKeys extends Context.Tag("@effect-mcp/core/SealKeys")<SealKeys, SealKeysService>() {}

/** @category models */
export interface Rotation {
  /** For how long a key seals, before a new key replaces it. Default: 1 day. */
  readonly every?: Duration.DurationInput | undefined
  /**
   * For how long a key still opens after it has been replaced. This must be longer than the time that a client has for its answers (the
   * limit `elicitationTimeout`). Default: 1 hour.
   */
  readonly keep?: Duration.DurationInput | undefined
}

/**
 * A random key, made now.
 *
 * @category utils
 */
export const generate: Effect.Effect<SealKey> = Effect.sync(() => ({
  id: hex(crypto.getRandomValues(new Uint8Array(8))),
  secret: Redacted.make(crypto.getRandomValues(new Uint8Array(32)))
}))

/** The least length of a secret, in bytes. */
const MIN_SECRET = 32

/**
 * Keys that the application replaces itself. The first secret seals, and every secret opens. Every node needs the same secrets, of at least
 * 32 bytes each. Throws when a secret is shorter.
 *
 * @category utils
 */
export const fixed = (
  secrets: readonly [Redacted.Redacted<string | Uint8Array>, ...Array<Redacted.Redacted<string | Uint8Array>>]
): SealKeysService => {
  const all = secrets.map(bytesOf)
  let known: Promise<ReadonlyArray<SealKey>> | undefined
  const keys = Effect.promise(() => known ??= Promise.all(all.map(keyOf)))
  return {
    current: Effect.map(keys, ([first]) => first!),
    find: (id) => Effect.map(keys, (keys) => Option.fromNullable(keys.find((key) => key.id === id)))
  }
}

const bytesOf = (secret: Redacted.Redacted<string | Uint8Array>): Uint8Array => {
  const value = Redacted.value(secret)
  const bytes = typeof value === "string" ? utf8.encode(value) : value
  if (bytes.length < MIN_SECRET) {
    throw new Error(
      `A secret that seals the state of requests has ${bytes.length} bytes; it needs at least ${MIN_SECRET}`
    )
  }
  return bytes
}

/** The key of a secret. Its id is a digest of the secret, so all nodes give the secret the same id. */
const keyOf = (secret: Uint8Array): Promise<SealKey> =>
  crypto.subtle.digest("SHA-256", new Uint8Array([...utf8.encode("id of a key"), 0, ...secret])).then((digest) => ({
    id: hex(new Uint8Array(digest, 0, 8)),
    secret: Redacted.make(secret)
  }))

const utf8 = new TextEncoder()

// `Encoding.encodeHex` of Effect adds a table of all bytes, 1.4 kB, to the bundle of every server.
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * Keys in memory. They end with the process, and only servers that share this layer have them.
 *
 * @category constructors
 */
export const memory = (rotation: Rotation = {}): Effect.Effect<SealKeysService> =>
  Effect.sync(() => {
    const every = Duration.toMillis(rotation.every ?? "1 day")
    const keep = Duration.toMillis(rotation.keep ?? "1 hour")
    // The newest first.
    let keys: ReadonlyArray<{ readonly key: SealKey; readonly from: number }> = []
    const opening = Effect.map(Clock.currentTimeMillis, (now) =>
      keys = keys.filter(({ from }) => now < from + every + keep))
    return {
      current: Effect.flatMap(Effect.zip(opening, Clock.currentTimeMillis), ([[newest], now]) =>
        newest !== undefined && now < newest.from + every
          ? Effect.succeed(newest.key)
          : Effect.tap(generate, (key) =>
            Effect.sync(() =>
              keys = [{ key, from: now }, ...keys]
            ))),
      find: (id) =>
        Effect.map(opening, (keys) =>
          Option.fromNullable(
            keys.find(({ key }) =>
              key.id === id
            )?.key
          ))
    }
  })

/**
 * `layerMemory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (rotation?: Rotation): Layer.Layer<SealKeys> => Layer.effect(SealKeys, memory(rotation))

/** @category layers */
export const layerMemory: Layer.Layer<SealKeys> = layerMemoryWith()
