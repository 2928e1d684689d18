/**
 * The keys that encrypt ("seal") and decrypt ("open") the state of a request, with revision 2026-07-28 or later. When a handler asks a
 * question, the server answers the request with the question and the sealed state. The client sends the request again with its answer and
 * the sealed state. `modern/RequestState` seals and opens the state. Each node of a server must be able to open a state that another node
 * has sealed, so the nodes share their keys. From time to time, a new key replaces the current key. Nodes can open states with an old key
 * for some time.
 *
 * Provide `SealKeys` to the layer of a server that runs on several nodes, or give the server fixed secrets with its option `stateSecrets`.
 * Otherwise the server uses a random key, which the server loses when it ends.
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
  /**
   * Identifies the key: 1 to 32 letters and digits. The server sends the id to clients, so the id must not reveal anything about the
   * secret.
   */
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
  /** Gives the key with which nodes seal at the moment. `find` must find this key by its id, at every node. */
  readonly current: Effect.Effect<SealKey, SealKeysError>
  /**
   * Finds the current key, or an earlier key that is not too old, by its id. Clients may send unknown ids many times, so the search for an
   * unknown id must be cheap.
   */
  readonly find: (id: string) => Effect.Effect<Option.Option<SealKey>, SealKeysError>
  /**
   * Gives the current time, in milliseconds since 1970. With this time, a node decides whether a sealed state has expired. Needed only
   * where the clocks of the nodes may differ. Default: the clock of the node.
   */
  readonly now?: Effect.Effect<number, SealKeysError> | undefined
}

/** @category tags */
export class SealKeys extends Context.Tag("@effect-mcp/core/SealKeys")<SealKeys, SealKeysService>() {}

/** @category models */
export interface Rotation {
  /** For how long nodes seal with one key. Then a new key replaces it. Default: 1 day. */
  readonly every?: Duration.DurationInput | undefined
  /**
   * For how long nodes still open states with a key after a new key has replaced it. This must be longer than the time that a client has
   * for its answers (the limit `elicitationTimeout`). Default: 1 hour.
   */
  readonly keep?: Duration.DurationInput | undefined
}

/**
 * Makes a random key.
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
 * Makes keys from secrets that the application replaces itself. Nodes seal with the first secret, and open with every secret. Every node
 * needs the same secrets, of at least 32 bytes each. Throws when a secret is shorter.
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
      `A secret for the state of requests has ${bytes.length} bytes, but needs at least ${MIN_SECRET}`
    )
  }
  return bytes
}

/** Makes the key of a secret. The id is a digest of the secret, so all nodes give the secret the same id. */
const keyOf = (secret: Uint8Array): Promise<SealKey> =>
  crypto.subtle.digest("SHA-256", new Uint8Array([...utf8.encode("id of a key"), 0, ...secret])).then((digest) => ({
    id: hex(new Uint8Array(digest, 0, 8)),
    secret: Redacted.make(secret)
  }))

const utf8 = new TextEncoder()

// `Encoding.encodeHex` of Effect adds a table of all bytes, 1.4 kB, to the bundle of every server.
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * Makes keys in memory. The keys are lost when the process ends, and only servers that share this service have them.
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
 * Makes the layer of `memory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (rotation?: Rotation): Layer.Layer<SealKeys> => Layer.effect(SealKeys, memory(rotation))

/** @category layers */
export const layerMemory: Layer.Layer<SealKeys> = layerMemoryWith()
