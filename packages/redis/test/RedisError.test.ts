import { assert, describe, it } from "@effect/vitest"
import { RedisError } from "@effect-mcp/redis/RedisError"
import { Effect } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("an error of Redis", () => {
  it.scopedLive("names the command that Redis refuses, and never its arguments", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.shared
      const { command } = yield* RedisProcess.connection(redis)
      const error = yield* Effect.flip(command("HSET", "secret-key"))
      assert.instanceOf(error, RedisError)
      assert.include(error.message, "HSET")
      assert.notInclude(JSON.stringify(error) + String(error), "secret-key")
    }))
})
