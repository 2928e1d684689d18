/**
 * Counters that all nodes of a server share. `take` limits how often a key may be used in a certain time. `once` allows each key only one
 * time. `RateLimit` uses these counters.
 *
 * This module contains the interface of the counters, and counters in memory, for one node. The counters do not use Effect's `RateLimiter`,
 * because it has no keys and makes callers wait. A server must refuse immediately.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** @category models */
export interface Rate {
  /** How many uses may come at once after a pause. */
  readonly burst: number
  /**
   * After this time, one more use is allowed, up to `burst` unused uses. For example, `burst: 5, every: "1 second"` allows 5 uses at once,
   * and on average one use per second.
   */
  readonly every: Duration.DurationInput
}

/**
 * The counters could not be read.
 *
 * @category errors
 */
export class SharedLimitsError extends Data.TaggedError("SharedLimitsError")<{ readonly message: string }> {}

/** @category models */
export interface SharedLimitsService {
  /**
   * Takes `count` uses (default: 1) from the allowance of the key, either all of them or none. Gives 0 when the uses were taken. Otherwise
   * gives the time after which the caller can try again, in milliseconds, or `Infinity` when `count` is greater than the burst.
   */
  readonly take: (key: string, rate: Rate, count?: number) => Effect.Effect<number, SharedLimitsError>
  /**
   * Gives `true` for the first use of a key on all nodes together. Gives `false` for every further use of the key until `ttl` has passed.
   */
  readonly once: (key: string, ttl: Duration.DurationInput) => Effect.Effect<boolean, SharedLimitsError>
}

/** @category tags */
export class SharedLimits extends Context.Tag("@effect-mcp/core/SharedLimits")<SharedLimits, SharedLimitsService>() {}

/** @category models */
export interface MemoryOptions {
  /**
   * How many keys `take` may store. This is also how many keys `once` may store. At the limit, `take` removes the key that was used least
   * recently. At the limit, `once` fails for a new key, because to forget a key would allow the key a second time. Default: 100,000.
   */
  readonly maxKeys?: number | undefined
}

/**
 * Makes counters in memory, for one node.
 *
 * @category constructors
 */
export const memory = ({ maxKeys = 100_000 }: MemoryOptions = {}): Effect.Effect<SharedLimitsService> =>
  Effect.sync(() => {
    // The time at which each key has its whole allowance again, in the order of last use. After this time, the entry of the key is not
    // needed.
    const full = new Map<string, number>()
    const used = new Map<string, number>()
    let swept = -Infinity
    return {
      take: (key, { burst, every }, count = 1) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (count > burst) return Infinity
          const step = Duration.toMillis(every)
          const from = Math.max(now, full.get(key) ?? now)
          const wait = from + count * step - (now + burst * step)
          if (wait > 0) return wait
          full.delete(key)
          const [oldest] = full.size >= maxKeys ? full.keys() : []
          if (oldest !== undefined) full.delete(oldest)
          full.set(key, from + count * step)
          return 0
        }),
      once: (key, ttl) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (now < (used.get(key) ?? -Infinity)) return Effect.succeed(false)
          // At most once a second, because this loop visits all keys.
          if (used.size >= maxKeys && Math.abs(now - swept) >= 1000) {
            swept = now
            for (const [key, until] of used) if (until <= now) used.delete(key)
          }
          if (used.size >= maxKeys && !used.has(key)) {
            return Effect.fail(new SharedLimitsError({ message: `${maxKeys} keys are in use, and this is the limit` }))
          }
          used.set(key, now + Duration.toMillis(ttl))
          return Effect.succeed(true)
        })
    }
  })

/**
 * Makes the layer of `memory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<SharedLimits> =>
  Layer.effect(SharedLimits, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<SharedLimits> = layerMemoryWith()
