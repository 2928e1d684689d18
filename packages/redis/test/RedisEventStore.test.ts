import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisEventStore from "@effect-mcp/redis/RedisEventStore"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as EventStoreLaws from "@effect-mcp/testing/EventStoreLaws"
import { Effect, Option } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("an event store in Redis", () => {
  for (const { check, name } of EventStoreLaws.laws) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisEventStore.make())))
  }
  for (const { check, name } of EventStoreLaws.claims) {
    const node = Effect.all({ events: RedisEventStore.make(), sessions: RedisSessionDirectory.make() })
    it.scopedLive(name, () => check(RedisProcess.pair(node)))
  }
})

describe("RedisEventStore", () => {
  it.scopedLive("knows on every node that an event is missing, which Redis has not stored", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.shared
      const connection = yield* RedisProcess.connection(redis)
      let fails = false
      const failing: RedisConnection.RedisConnectionService = {
        ...connection,
        run: (...args) => fails ? connection.command("NO SUCH COMMAND") : connection.run(...args)
      }
      const [one, two] = [
        yield* Effect.provideService(RedisEventStore.make(), RedisConnection.RedisConnection, failing),
        yield* Effect.provideService(RedisEventStore.make(), RedisConnection.RedisConnection, connection)
      ]
      const key = { session: "s", stream: "1" }
      const append = (position: number) => one.append(key, { position, data: `${position}` })
      yield* append(1)
      fails = true
      yield* append(2)
      fails = false
      assert.isTrue(Option.isNone(yield* one.after(key, 1)))
      yield* append(3)
      for (const store of [one, two]) {
        assert.isTrue(Option.isNone(yield* store.after(key, 1)))
        assert.strictEqual(Option.getOrThrow(yield* store.after(key, 2)).length, 1)
      }
    }))

  it.scopedLive("forgets a session with more streams than one script removes, and nothing in an epoch that is over", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const { append, forget } = yield* Effect.provideService(
        RedisEventStore.make(),
        RedisConnection.RedisConnection,
        connection
      )
      const add = (stream: number) =>
        append({ session: "s", stream: `${stream}`, epoch: 2 }, { position: 1, data: "event" })
      yield* Effect.forEach(Array.from({ length: 600 }, (_, n) => n), add, { concurrency: 64 })
      const keys = Effect.map(
        connection.command("KEYS", `${connection.prefix}*`),
        (found) => (found as ReadonlyArray<string>).map((key) => key.slice(connection.prefix.length))
      )
      const before = (yield* keys).length
      yield* forget("s", 1)
      assert.strictEqual((yield* keys).length, before)
      yield* forget("s", 2)
      assert.deepStrictEqual(yield* keys, ["{session:s}:epoch"])
    }))

  it.scopedLive("drops the oldest events of a stream that has too many, and says so to a reader that needs them", () =>
    Effect.gen(function*() {
      const { command, ...connection } = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const store = yield* Effect.provideService(
        RedisEventStore.make({ maxEvents: 3 }),
        RedisConnection.RedisConnection,
        { ...connection, command }
      )
      const key = { session: "s", stream: "1" }
      const event = (position: number) => ({ position, data: `${position}` })
      const after = (position: number) =>
        Effect.map(
          store.after(key, position),
          (found) => Option.getOrUndefined(Option.map(found, (events) => events.map(({ position }) => position)))
        )
      for (let n = 1; n <= 5; n++) yield* store.append(key, event(n))
      assert.deepStrictEqual(yield* after(-1), [3, 4, 5])
      assert.deepStrictEqual(yield* after(2), [3, 4, 5])
      assert.isUndefined(yield* after(1))
      yield* store.appendAll!(key, [6, 7, 8, 9, 10].map(event), false)
      assert.deepStrictEqual(yield* after(-1), [8, 9, 10])
      assert.isUndefined(yield* after(6))
      assert.strictEqual(yield* command("XLEN", `${connection.prefix}{session:s}:events:1`), 3)
    }))

  it.scopedLive("reads no events for a reader that it refuses", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const commands: Array<string> = []
      const store = yield* Effect.provideService(
        RedisEventStore.make({ maxEvents: 2 }),
        RedisConnection.RedisConnection,
        {
          ...connection,
          command: (name, ...args) => {
            commands.push(name)
            return connection.command(name, ...args)
          }
        }
      )
      const key = { session: "s", stream: "1" }
      for (const position of [1, 2, 3]) yield* store.append(key, { position, data: "" })
      for (const refused of [key, { ...key, stream: "2" }]) {
        assert.isTrue(Option.isNone(yield* store.after(refused, 0)))
      }
      assert.notInclude(commands, "XRANGE")
    }))

  for (const moment of ["EXISTS", "HMGET", "XRANGE"]) {
    it.scopedLive(`gives a reader no events with a gap when some are dropped while it reads, after ${moment}`, () =>
      Effect.gen(function*() {
        const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
        const over = (connection: RedisConnection.RedisConnectionService) =>
          Effect.provideService(
            RedisEventStore.make({ maxEvents: 2 }),
            RedisConnection.RedisConnection,
            connection
          )
        const writer = yield* over(connection)
        const key = { session: "s", stream: "1" }
        const append = (position: number) => writer.append(key, { position, data: `${position}` })
        let isDue = true
        const drop = Effect.suspend(() => {
          isDue = false
          return append(3)
        })
        const reader = yield* over({
          ...connection,
          command: (name, ...args) =>
            Effect.tap(connection.command(name, ...args), () => name === moment && isDue ? drop : Effect.void)
        })
        yield* Effect.forEach([1, 2], append)
        const found = Option.getOrElse(yield* reader.after(key, 0), () => [])
        assert.notStrictEqual(found[0]?.position, 2)
        const dropped = yield* connection.command("HGET", `${connection.prefix}{session:s}:about:1`, "dropped")
        assert.strictEqual(dropped, "1-1")
      }))
  }

  it.scopedLive("removes the names of streams that have expired from its index", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const { append } = yield* Effect.provideService(
        RedisEventStore.make(),
        RedisConnection.RedisConnection,
        connection
      )
      const index = `${connection.prefix}{session:s}:streams`
      yield* connection.command("ZADD", index, 1, "expired")
      yield* append({ session: "s", stream: "1" }, { position: 1, data: "" })
      assert.deepStrictEqual(yield* connection.command("ZRANGE", index, 0, -1), ["1"])
    }))
})
