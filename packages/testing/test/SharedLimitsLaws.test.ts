import { describe } from "@effect/vitest"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import { laws, timed } from "@effect-mcp/testing/SharedLimitsLaws"
import { Clock, Effect } from "effect"
import { found } from "./Faults.js"

describe("The laws of limits", () => {
  found(laws, SharedLimits.memory(), {
    "allows everything": [
      () => ({ take: () => Effect.succeed(0) }),
      "allows the burst for all nodes together, and then refuses"
    ],
    "takes one at a time": [
      ({ take }) => ({
        take: (key, rate, count = 1) =>
          Effect.map(
            Effect.forEach(Array.from({ length: count }), () => take(key, rate)),
            (waits) => Math.max(...waits)
          )
      }),
      "takes all or nothing"
    ],
    "allows a key twice": [
      ({ once }) => {
        let uses = 0
        return { once: (key, ttl) => Effect.map(once(key, ttl), (isFirst) => isFirst || uses++ === 0) }
      },
      "allows a key once, on all nodes together"
    ],
    "confuses keys": [
      ({ take }) => ({ take: (key, rate, count) => take(key.toLowerCase(), rate, count) }),
      "counts each key and each operation separately"
    ]
  })
})

describe("The laws of limits about time", () => {
  found(timed, SharedLimits.memory(), {
    "takes what it refuses from later intervals": [
      ({ take }) => {
        let due = 0
        return {
          take: (key, rate, count = 1) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              if (due === 0) return Effect.tap(take(key, rate, count), () => Effect.sync(() => due = now + count))
              due += count
              return Effect.succeed(due - now)
            })
        }
      },
      "allows one more after each interval"
    ],
    "never allows more than the burst": [
      ({ take }) => ({ take: (key, { burst }, count) => take(key, { burst, every: "1 hour" }, count) }),
      "allows one more after each interval"
    ]
  }, "live")
})
