/**
 * Implements `SealKeys` with Redis, over a `RedisConnection`. With these keys a server encrypts values that clients send back later. All
 * nodes (processes) of a server use the same keys. When the current key is too old, one node replaces the key for all nodes (`KeyRing` of
 * core). Redis stores the secrets in plain text, so anyone who can read this Redis can decrypt these values.
 *
 * @since 0.1.0
 */
import { type Rotation, SealKeys, type SealKeysService } from "@effect-mcp/core/SealKeys"
import * as KeyRing from "@effect-mcp/core/unstable/server/KeyRing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"

/**
 * Replaces the stored value, if the stored value still equals the given old value. ARGV: the old value ("" when there was no value), the
 * new value, the milliseconds after which the new value expires.
 */
const swap: Script = {
  keys: 1,
  types: ["string"],
  lua: `
    if (redis.call("GET", KEYS[1]) or "") ~= ARGV[1] then return 0 end
    redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
    return 1`
}

/** Returns the stored value ("" when there is no value), and the time of Redis in seconds and microseconds. */
const read: Script = {
  keys: 1,
  types: ["string"],
  lua: `return {redis.call("GET", KEYS[1]) or "", redis.call("TIME")}`
}

/** @category constructors */
export const make = (rotation: Rotation = {}): Effect.Effect<SealKeysService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ prefix, run }) => {
    const name = `${prefix}seal`
    return KeyRing.make({
      read: Effect.map(run(read, name), (reply) => {
        const [text, [seconds, micros]] = reply as readonly [string, readonly [string, string]]
        return { text, time: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) }
      }),
      swap: (before, after, ttl) => run(swap, name, before, after, ttl)
    }, rotation)
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (rotation?: Rotation): Layer.Layer<SealKeys, never, RedisConnection> =>
  Layer.effect(SealKeys, make(rotation))

/** @category layers */
export const layer: Layer.Layer<SealKeys, never, RedisConnection> = layerWith()
