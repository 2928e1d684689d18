import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisSharedLimits from "@effect-mcp/redis/RedisSharedLimits"
import * as SharedLimitsLaws from "@effect-mcp/testing/SharedLimitsLaws"
import { Effect } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("limits in Redis", () => {
  for (const { check, name } of [...SharedLimitsLaws.laws, ...SharedLimitsLaws.timed]) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisSharedLimits.make)))
  }
})

describe("RedisSharedLimits", () => {
  it.scopedLive("limits rates of more than one in a millisecond", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const { take } = yield* Effect.provideService(
        RedisSharedLimits.make,
        RedisConnection.RedisConnection,
        connection
      )
      const taking = take("k", { burst: 10, every: "400 micros" })
      const waits = yield* Effect.all(Array.from({ length: 400 }, () => taking), { concurrency: "unbounded" })
      assert.isTrue(waits.some((wait) => wait > 0))
    }))
})
