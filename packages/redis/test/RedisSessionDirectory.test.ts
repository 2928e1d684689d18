import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import { Clock, Effect, Option, Schedule } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("a directory in Redis", () => {
  for (const { check, name } of SessionDirectoryLaws.laws) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisSessionDirectory.make())))
  }
})

describe("RedisSessionDirectory", () => {
  it.scopedLive("tells a node that its lease has expired before Redis gives its sessions to others", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      let isReachable = true
      const own: RedisConnection.RedisConnectionService = {
        ...connection,
        command: (...args) => isReachable ? connection.command(...args) : Effect.never
      }
      const lease = 1000
      const directory = yield* Effect.provideService(
        RedisSessionDirectory.make({ lease }),
        RedisConnection.RedisConnection,
        own
      )
      const { lost } = yield* directory.join("one")
      // On a busy machine all timers are late, and in their order.
      const late = yield* Effect.fork(Effect.sleep(lease + 500))
      isReachable = false
      yield* Effect.timeout(lost, "5 seconds")
      assert.isNull(late.unsafePoll())
      isReachable = true
    }))

  it.scopedLive(
    "gives the sessions of a node that ends without a word to others within 5 seconds, and keeps those of a slow one",
    () =>
      Effect.gen(function*() {
        const process = yield* RedisProcess.shared
        const connection = yield* RedisProcess.connection(process)
        const join = (node: string, command: RedisConnection.RedisConnectionService["command"]) =>
          RedisSessionDirectory.make().pipe(
            Effect.provideService(RedisConnection.RedisConnection, { ...connection, command }),
            Effect.flatMap((directory) => directory.join(node))
          )
        let isRunning = true
        const ended = yield* join("ended", (...args) => isRunning ? connection.command(...args) : Effect.never)
        const slow = yield* join("slow", (...args) => Effect.delay(connection.command(...args), "1500 millis"))
        const other = yield* join("other", connection.command)
        yield* ended.create("a", {})
        yield* slow.create("b", {})
        isRunning = false
        const before = yield* Clock.currentTimeMillis
        yield* Effect.repeat(other.claim("a", 1), { until: Option.isSome, schedule: Schedule.spaced("100 millis") })
        assert.isBelow((yield* Clock.currentTimeMillis) - before, 4500)
        assert.isTrue(Option.isNone(yield* other.claim("b", 1)))
        isRunning = true
      }),
    15_000
  )
})
