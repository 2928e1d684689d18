/**
 * Nodes over a Redis in which another program has written at the keys of the nodes.
 */
import { assert, describe, it } from "@effect/vitest"
import { ChangeBus } from "@effect-mcp/core/ChangeBus"
import { EventStore } from "@effect-mcp/core/EventStore"
import { Inbox } from "@effect-mcp/core/Inbox"
import { SealKeys } from "@effect-mcp/core/SealKeys"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import { SharedLimits } from "@effect-mcp/core/SharedLimits"
import { TaskStore } from "@effect-mcp/core/TaskStore"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Chunk, Context, Effect, Fiber, Layer, Option, Stream } from "effect"
import * as Refusing from "../../node/test/Refusing.js"
import * as RedisProcess from "./RedisProcess.js"

const node = Effect.gen(function*() {
  const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
  const services = yield* Layer.build(
    Layer.provide(Layer.fresh(RedisNodes.services), Layer.succeed(RedisConnection.RedisConnection, connection))
  )
  const redis = (name: string, key: string, ...args: ReadonlyArray<string>) =>
    connection.command(name, `${connection.prefix}${key}`, ...args)
  return { services, redis }
})

describe.concurrent("an entry in Redis that no node has written", () => {
  it.scopedLive("in an inbox is skipped, and what comes after it arrives", () =>
    Effect.gen(function*() {
      const { redis, services } = yield* node
      const { received, send } = yield* Context.get(services, Inbox).open("one")
      const warnings = yield* Refusing.logged(Effect.gen(function*() {
        yield* redis("XADD", "{inbox:one}", "*", "other", "field")
        yield* redis("XADD", "{inbox:one}", "*", "other", "field", "text", "odd")
        yield* send("one", "1")
        const got = yield* Effect.fork(Stream.runCollect(Stream.take(received, 4)))
        yield* Effect.sleep("500 millis")
        yield* redis("SET", "{inbox:one}", "of another type")
        yield* send("one", "2")
        yield* redis("DEL", "{inbox:one}")
        yield* redis("LPUSH", "{inbox:one}", "of another type")
        yield* Effect.sleep("500 millis")
        yield* redis("SET", "{inbox:one}:size", "garbage")
        yield* send("one", "3")
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(got)), ["odd", "1", "2", "3"])
      }))
      assert.isAtLeast(warnings.filter((text) => text.includes("{inbox:one}")).length, 1)
    }), 30_000)

  it.scopedLive("on the bus is skipped, and what comes after it arrives", () =>
    Effect.gen(function*() {
      const { redis, services } = yield* node
      const bus = Context.get(services, ChangeBus)
      const [one, two] = [yield* bus.join, yield* bus.join]
      const change = (uri: string) => ({ _tag: "Resource", uri }) as const
      const got: Array<string> = []
      yield* Effect.forkScoped(Stream.runForEach(two.changes, (change) =>
        Effect.sync(() =>
          void got.push(change._tag === "Resource" ? change.uri : change._tag)
        )))
      const arrives = (uri: string) =>
        Effect.zipRight(
          one.publish(change(uri)),
          Effect.repeat(Effect.sleep("20 millis"), {
            until: () =>
              got.includes(uri),
            times: 500
          })
        )
      for (
        const odd of [
          ["XADD", "*", "other", "field"],
          ["XADD", "*", "number", "garbage", "change", "{"],
          ["XADD", "*", "number", "2", "change", "{}"],
          ["SET", "of another type"]
        ]
      ) {
        yield* redis(odd[0]!, "{changes}", ...odd.slice(1))
        yield* arrives(odd.join())
      }
      yield* redis("SET", "{changes}:number", "garbage")
      yield* arrives("last")
      assert.includeMembers(got, ["XADD,*,other,field", "last"])
    }), 30_000)

  it.scopedLive("for a session costs no other session, and the session of a node that lives is found", () =>
    Effect.gen(function*() {
      const { redis, services } = yield* node
      const own = yield* Context.get(services, SessionDirectory).join("one")
      for (const id of ["facts", "list", "epoch", "type", "other"]) yield* own.create(id, { a: 1 })
      yield* redis("HSET", "{session:facts}", "facts", "{garbage")
      yield* redis("HSET", "{session:list}", "facts", "[]")
      yield* redis("HSET", "{session:epoch}", "epoch", "garbage")
      yield* redis("DEL", "{session:type}")
      yield* redis("SET", "{session:type}", "of another type")
      const found = yield* Effect.forEach(["facts", "list", "epoch", "type", "other"], (id) => own.find(id))
      assert.deepStrictEqual(
        found.map(Option.map(({ facts, isServed, node }) => [node, isServed, facts])),
        [
          Option.some(["one", true, {}]),
          Option.some(["one", true, {}]),
          Option.none(),
          Option.none(),
          Option.some(["one", true, { a: 1 }])
        ] as any
      )
      assert.isFalse(yield* own.update("type", 1, {}))
      // A lease without an end is none.
      yield* redis("SET", "node:forever", "garbage")
      assert.isFalse(yield* own.isAlive("forever"))
    }))

  it.scopedLive("for a task, a stream, a rate or the keys costs nothing else", () =>
    Effect.gen(function*() {
      const { redis, services } = yield* node
      const tasks = Context.get(services, TaskStore)
      const now = Date.now()
      for (const taskId of ["1", "2", "3"]) yield* tasks.create(Refusing.task(now, { taskId }))
      const warnings = yield* Refusing.logged(Effect.gen(function*() {
        yield* redis("HSET", "task:1", "task", "{\"garbage\":1}")
        yield* redis("DEL", "task:2")
        yield* redis("SET", "task:2", "of another type")
        for (const taskId of ["1", "2"]) assert.isTrue(Option.isNone(yield* tasks.get("ada", taskId)))
        const { tasks: listed } = yield* tasks.list("ada", { limit: 10 })
        assert.deepStrictEqual(listed.map(({ taskId }) => taskId), ["3"])
      }))
      assert.deepStrictEqual(warnings.filter((text) => text.includes("task:1")).length, 1)
      for (const key of ["{tasks:=ada}", "{tasks:=ada}:until", "{tasks:=ada}:sizes"]) {
        yield* redis("SET", key, "of another type")
      }
      yield* tasks.create(Refusing.task(now, { taskId: "4" }))

      const events = Context.get(services, EventStore)
      const key = { session: "s", stream: "1", epoch: 1 }
      yield* events.open(key, [1])
      yield* events.append(key, { position: 1, data: "1" })
      yield* redis("XADD", "{session:s}:events:1", "2-1", "other", "field")
      yield* events.append(key, { position: 3, data: "3" })
      assert.deepStrictEqual(
        Option.getOrThrow(yield* events.after(key, -1)).map(({ position }) => position),
        [1, 3]
      )
      yield* redis("HSET", "{session:s}:about:1", "requests", "garbage")
      assert.deepStrictEqual(yield* events.unfinished(key), [])
      yield* redis("SET", "{session:s}:epoch", "garbage")
      assert.isTrue(yield* events.append(key, { position: 4, data: "4" }))

      const limits = Context.get(services, SharedLimits)
      yield* redis("SET", "rate:k", "garbage")
      assert.strictEqual(yield* limits.take("k", { burst: 1, every: "1 minute" }), 0)
      yield* redis("LPUSH", "rate:l", "of another type")
      assert.strictEqual(yield* limits.take("l", { burst: 1, every: "1 minute" }), 0)

      const keys = Context.get(services, SealKeys)
      const { id } = yield* keys.current
      for (const garbage of ["garbage", "[{\"id\":1}]", "[{\"id\":\"a\",\"secret\":\"*\",\"from\":1}]"]) {
        yield* redis("SET", "seal", garbage)
        const { services } = yield* node
        assert.isTrue(Option.isNone(yield* keys.find("unknown")))
        assert.notStrictEqual((yield* keys.current).id, id)
        assert.isNotEmpty((yield* Context.get(services, SealKeys).current).id)
      }
      yield* redis("DEL", "seal")
      yield* redis("LPUSH", "seal", "of another type")
      assert.isTrue(Option.isNone(yield* keys.find("unknown")))
      yield* keys.current
    }))
})

describe("the time of what is sealed", () => {
  it.scopedLive("is that of Redis, whatever the clock of the node", () =>
    Effect.gen(function*() {
      const { services } = yield* node
      const keys = Context.get(services, SealKeys)
      // Redis runs on this machine.
      assert.approximately(yield* Refusing.inHours(2, keys.now!), Date.now(), 10_000)
    }))
})

describe("the time of a task", () => {
  it.scopedLive("ends by the clock of Redis, whatever the clock of the node that reads", () =>
    Effect.gen(function*() {
      const { services } = yield* node
      const tasks = Context.get(services, TaskStore)
      yield* tasks.create(Refusing.task(Date.now()))
      const found = yield* Refusing.inHours(2, tasks.get("ada", "1"))
      assert.isTrue(Option.isSome(found))
      const { tasks: listed } = yield* Refusing.inHours(2, tasks.list("ada", { limit: 1 }))
      assert.strictEqual(listed.length, 1)
      // A creation at the other node removes nothing that has not expired.
      yield* Refusing.inHours(2, tasks.create(Refusing.task(Date.now() + 7_200_000, { taskId: "2" })))
      assert.strictEqual((yield* tasks.list("ada", { limit: 10 })).tasks.length, 2)
    }))
})
