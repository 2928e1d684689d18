import { describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import * as InboxLaws from "@effect-mcp/testing/InboxLaws"
import { Effect, Stream } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("inboxes in Redis", () => {
  for (const { check, name } of InboxLaws.laws) it.scopedLive(name, () => check(RedisProcess.pair(RedisInbox.make())))
  for (const { check, name } of InboxLaws.bounded) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisInbox.make(InboxLaws.small))))
  }
})

describe("RedisInbox", () => {
  it.scopedLive("ends what an inbox receives when it has expired", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const inboxes = yield* Effect.provideService(
        RedisInbox.make({ lease: 300 }),
        RedisConnection.RedisConnection,
        connection
      )
      const { received } = yield* inboxes.open("one")
      yield* connection.command("DEL", `${connection.prefix}{inbox:one}:size`)
      yield* Stream.runDrain(received)
    }))
})
