import { describe, it } from "@effect/vitest"
import * as RedisSealKeys from "@effect-mcp/redis/RedisSealKeys"
import * as SealKeysLaws from "@effect-mcp/testing/SealKeysLaws"
import { Effect } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("keys in Redis", () => {
  const nodes = Effect.flatMap(
    RedisProcess.shared,
    ({ url }) => RedisProcess.pairInTestTime(url, RedisSealKeys.make(SealKeysLaws.rotation))
  )
  for (const { check, name } of SealKeysLaws.laws) it.scoped(name, () => check(nodes))
})
