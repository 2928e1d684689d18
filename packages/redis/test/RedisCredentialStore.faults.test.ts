import { describe, it } from "@effect/vitest"
import * as RedisCredentialStore from "@effect-mcp/redis/RedisCredentialStore"
import { Effect } from "effect"
import * as FaultsLaws from "../../auth/test/CredentialFaultsLaws.js"
import * as RedisProcess from "./RedisProcess.js"

const place = Effect.gen(function*() {
  const { start, stop, url } = yield* RedisProcess.make()
  const options = { url, prefix: RedisProcess.nextPrefix(), timeout: "500 millis" } as const
  const one = RedisProcess.nodeInTestTime(options, RedisCredentialStore.make("ada"))
  return { stores: yield* Effect.all([one, one, one]), start, stop }
})

describe("processes that share credentials in a Redis that restarts", () => {
  for (const { check, name } of FaultsLaws.laws) it.scoped(name, () => check(place), 60_000)
})
