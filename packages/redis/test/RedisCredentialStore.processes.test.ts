import { describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisCredentialStore from "@effect-mcp/redis/RedisCredentialStore"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as ProcessesLaws from "../../auth/test/ProcessesLaws.js"
import * as RedisProcess from "./RedisProcess.js"

const place = Effect.gen(function*() {
  const { url } = yield* RedisProcess.shared
  const options = { url, prefix: RedisProcess.nextPrefix(), timeout: "10 seconds" } as const
  const connection = yield* RedisConnection.make(options)
  const store = yield* Effect.provideService(
    RedisCredentialStore.make("ada"),
    RedisConnection.RedisConnection,
    connection
  )
  return { store, argument: JSON.stringify(options) }
})

describe("processes that share credentials in Redis", () => {
  for (const { check, name } of ProcessesLaws.laws) {
    it.scopedLive(name, () => check(fileURLToPath(new URL("..", import.meta.url)), place), 180_000)
  }
})
