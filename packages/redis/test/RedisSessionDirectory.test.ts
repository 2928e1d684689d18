import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import { Clock, Effect, Option, Schedule } from "effect"
import * as RedisProcess from "./RedisProcess.js"

/** Other processes may have had the processor meanwhile: the best of these counts. */
const ATTEMPTS = 5

describe("a directory in Redis", () => {
  for (const { check, name } of SessionDirectoryLaws.laws) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisSessionDirectory.make())))
  }
})

describe("RedisSessionDirectory", () => {
  it.live("tells a node that its lease has expired before Redis gives its sessions to others", () =>
    Effect.gen(function*() {
      const lease = 1000
      const learning = Effect.scoped(Effect.gen(function*() {
        const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
        let isReachable = true
        const own: RedisConnection.RedisConnectionService = {
          ...connection,
          upkeep: {
            ...connection.upkeep,
            command: (...args) => isReachable ? connection.upkeep.command(...args) : Effect.never
          }
        }
        const directory = yield* Effect.provideService(
          RedisSessionDirectory.make({ lease }),
          RedisConnection.RedisConnection,
          own
        )
        const before = yield* Clock.currentTimeMillis
        const { lost } = yield* directory.join("one")
        isReachable = false
        yield* lost
        isReachable = true
        return (yield* Clock.currentTimeMillis) - before
      }))
      const until = (millis: number) => millis <= lease + 500
      assert.isAtMost(yield* Effect.repeat(learning, { times: ATTEMPTS - 1, until }), lease + 500)
    }))

  it.scopedLive("gives a session to the next node with what the last one has stored while it was claimed", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const join = (node: string, run: RedisConnection.RedisConnectionService["run"]) =>
        RedisSessionDirectory.make().pipe(
          Effect.provideService(RedisConnection.RedisConnection, { ...connection, run }),
          Effect.flatMap((directory) => directory.join(node))
        )
      const last = yield* Effect.scoped(join("last", connection.run))
      yield* last.create("a", { subscriptions: [] })
      // The last node does not know yet that its lease is over.
      const stored = yield* Effect.cached(last.update("a", 1, { subscriptions: ["file:///a"] }))
      const next = yield* join("next", (...args) => Effect.zipRight(Effect.orDie(stored), connection.run(...args)))
      const claimed = Option.getOrThrow(yield* next.claim("a", 1))
      assert.isTrue(yield* stored)
      assert.deepStrictEqual(claimed.facts, { subscriptions: ["file:///a"] })
      assert.deepStrictEqual(Option.some(claimed), yield* next.find("a"))
    }))

  it.live("gives the sessions of a node that ends without a word to others within 5 seconds, and keeps those of a slow one", () =>
    Effect.gen(function*() {
      const claiming = Effect.scoped(Effect.gen(function*() {
        const process = yield* RedisProcess.shared
        const connection = yield* RedisProcess.connection(process)
        const join = (node: string, command: RedisConnection.RedisConnectionService["command"]) =>
          RedisSessionDirectory.make().pipe(
            Effect.provideService(RedisConnection.RedisConnection, {
              ...connection,
              command,
              upkeep: { ...connection.upkeep, command }
            }),
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
        const millis = (yield* Clock.currentTimeMillis) - before
        assert.isTrue(Option.isNone(yield* other.claim("b", 1)))
        isRunning = true
        return millis
      }))
      const until = (millis: number) => millis < 4500
      assert.isBelow(yield* Effect.repeat(claiming, { times: ATTEMPTS - 1, until }), 4500)
    }))
})
