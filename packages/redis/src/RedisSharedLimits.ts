/**
 * Implements `SharedLimits` with Redis, over a `RedisConnection`. With this module, all nodes (processes) of a server share the same
 * limits. For each rate limit, Redis stores a single timestamp: the time at which the whole allowance is available again, by the clock of
 * Redis. For each value that may be used only once, Redis stores an entry that expires.
 *
 * @since 0.1.0
 */
import { SharedLimits, SharedLimitsError, type SharedLimitsService } from "@effect-mcp/core/SharedLimits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/**
 * Takes units of the allowance of a rate limit. ARGV: in how many milliseconds the taken units become available again, in how many
 * milliseconds the whole allowance becomes available again. Returns 0 when the script has taken the units. Otherwise returns how many
 * milliseconds the caller must wait.
 */
const take: Script = {
  keys: 1,
  types: ["string"],
  lua: `
    local time = redis.call("TIME")
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local full = math.max(now, tonumber(redis.call("GET", KEYS[1]) or now) or now) + ARGV[1]
    local wait = math.ceil(full - (now + ARGV[2]))
    if wait > 0 then return wait end
    redis.call("SET", KEYS[1], string.format("%.3f", full), "PX", math.max(1, math.ceil(full - now)))
    return 0`
}

/** @category constructors */
export const make: Effect.Effect<SharedLimitsService, never, RedisConnection> = Effect.map(
  RedisConnection,
  ({ command, prefix, run }) => ({
    take: (key, { burst, every }, count = 1) => {
      if (count > burst) return Effect.succeed(Infinity)
      const step = Duration.toMillis(every)
      const waited = run(take, `${prefix}rate:${key}`, count * step, burst * step)
      return Effect.map(Effect.mapError(waited, unavailable), Number)
    },
    once: (key, ttl) => {
      const millis = Math.max(1, Math.ceil(Duration.toMillis(ttl)))
      const set = command("SET", `${prefix}once:${key}`, "", "PX", millis, "NX")
      return Effect.map(Effect.mapError(set, unavailable), (reply) => reply === "OK")
    }
  })
)

/** @category layers */
export const layer: Layer.Layer<SharedLimits, never, RedisConnection> = Layer.effect(SharedLimits, make)

const unavailable = ({ report }: RedisError): SharedLimitsError => new SharedLimitsError({ message: report })
