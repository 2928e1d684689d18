import { assert, describe, it } from "@effect/vitest"
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
  it.scopedLive("names the node that cannot be reached", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const inboxes = yield* Effect.provideService(
        RedisInbox.make({ maxSize: 10 }),
        RedisConnection.RedisConnection,
        connection
      )
      const { send } = yield* inboxes.open("one")
      yield* send("one", "more than ten")
      const [gone, full] = [yield* Effect.flip(send("two", "text")), yield* Effect.flip(send("one", "text"))]
      assert.strictEqual(gone.message, "The node \"two\" has no open inbox: the node or its lease has ended")
      assert.strictEqual(
        full.message,
        "More than 10 bytes wait for the node \"one\": send again when it has read some, or give `maxSize` a higher value"
      )
    }))

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
