/**
 * What the services do when Redis has lost what it had stored: all of it, as without an append-only file, or its last entries, as
 * after a failure of its machine.
 */
import { assert, layer } from "@effect/vitest"
import type { Change } from "@effect-mcp/core/ChangeBus"
import type { EventStoreService } from "@effect-mcp/core/EventStore"
import * as RedisChangeBus from "@effect-mcp/redis/RedisChangeBus"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisEventStore from "@effect-mcp/redis/RedisEventStore"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import { Chunk, Context, Effect, Fiber, Layer, Option, Schedule, Stream } from "effect"
import * as RedisProcess from "./RedisProcess.js"
import * as ThreeNodes from "./ThreeNodes.js"

class Redis extends Context.Tag("test/Redis")<Redis, Effect.Effect.Success<ReturnType<typeof RedisProcess.make>>>() {}

const withoutFile = Layer.scoped(Redis, RedisProcess.make([]))

/** Greater than every id that Redis gives. */
const LATE = "99999999999999-0"

const resource = (uri: string): Change => ({ _tag: "Resource", uri })

const unknown: Change = { _tag: "Unknown" }

layer(withoutFile, { excludeTestServices: true })("nodes, when Redis has lost its data:", (it) => {
  const connected = Effect.flatMap(Redis, (redis) => RedisProcess.connection(redis))
  const over = <A, E, R>(service: Effect.Effect<A, E, R>, connection: RedisConnection.RedisConnectionService) =>
    Effect.provideService(service, RedisConnection.RedisConnection, connection)
  const restart = Effect.flatMap(Redis, ({ restart }) => restart)

  /** A connection that waits for entries finds out that it was lost. */
  const cutReaders = ({ command }: RedisConnection.RedisConnectionService) =>
    Effect.zipRight(
      Effect.repeat(command("CLIENT", "LIST"), { until: (list) => String(list).includes("cmd=xread") }),
      command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    )

  /** What a member gets, one call after another. */
  const pulled = (changes: Stream.Stream<Change>) =>
    Effect.map(Stream.toPull(changes), (pull) =>
      Effect.map(
        Effect.repeat(pull, { until: (some) => Chunk.size(some) > 0 }),
        (some) => Chunk.toReadonlyArray(some)
      ))

  it.scoped("a member of the bus learns it though no other change comes, and hears the changes after it", () =>
    Effect.gen(function*() {
      const connection = yield* connected
      const bus = yield* over(RedisChangeBus.make(), connection)
      const [one, two] = [yield* bus.join, yield* bus.join]
      const received = yield* pulled(two.changes)
      // The clock of Redis was set back since.
      const change = JSON.stringify(resource("a"))
      const stream = `${connection.prefix}{changes}`
      yield* connection.command("XADD", stream, LATE, "number", 1, "member", "other", "change", change)
      yield* connection.command("INCR", `${stream}:number`)
      assert.deepStrictEqual(yield* received, [resource("a")])
      const next = yield* Effect.fork(received)
      yield* cutReaders(connection)
      yield* restart
      assert.deepStrictEqual(yield* Fiber.join(next), [unknown])
      yield* one.publish(resource("b"))
      assert.deepStrictEqual(yield* received, [resource("b")])
    }))

  it.scoped("a member of the bus that had read nothing learns it, too", () =>
    Effect.gen(function*() {
      const bus = yield* over(RedisChangeBus.make(), yield* connected)
      const [one, two] = [yield* bus.join, yield* bus.join]
      yield* one.publish(resource("a"))
      yield* restart
      const received = yield* Effect.fork(Effect.flatten(pulled(two.changes)))
      yield* cutReaders(yield* connected)
      assert.deepStrictEqual(yield* Fiber.join(received), [unknown])
    }))

  it.scoped("a node whose inbox has lost what it has read leaves the inbox, and others find it gone", () =>
    Effect.gen(function*() {
      const connection = yield* connected
      const inboxes = yield* over(RedisInbox.make(), connection)
      const [one, two] = [yield* inboxes.open("one"), yield* inboxes.open("two")]
      const stream = `${connection.prefix}{inbox:one}`
      yield* connection.command("XADD", stream, LATE, "text", "a")
      const received = yield* Stream.toPull(one.received)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* received), ["a"])
      const reading = yield* Effect.fork(Effect.forever(received))
      yield* connection.command("DEL", stream)
      yield* two.send("one", "b")
      yield* cutReaders(connection)
      yield* Fiber.await(reading)
      const error = yield* Effect.flip(two.send("one", "c"))
      assert.strictEqual(error.reason, "Gone")
    }))

  it.scoped("a node reads what is sent after its inbox was empty for so long that Redis has dropped it", () =>
    Effect.gen(function*() {
      const connection = yield* connected
      const inboxes = yield* over(RedisInbox.make(), connection)
      const [one, two] = [yield* inboxes.open("one"), yield* inboxes.open("two")]
      const stream = `${connection.prefix}{inbox:one}`
      yield* connection.command("XADD", stream, LATE, "text", "a")
      const received = yield* Stream.toPull(one.received)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* received), ["a"])
      const next = yield* Effect.fork(Effect.repeat(received, { until: (texts) => Chunk.size(texts) > 0 }))
      yield* connection.command("DEL", stream)
      yield* cutReaders(connection)
      // Once the node has looked at its inbox, it waits for the first entry.
      yield* Effect.repeat(connection.command("CLIENT", "LIST"), {
        until: (list) => String(list).includes("cmd=xread"),
        schedule: Schedule.spaced("20 millis")
      })
      yield* two.send("one", "b")
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(next)), ["b"])
    }))

  it.scoped("the inbox of a node ends with its lease", () =>
    Effect.gen(function*() {
      const inboxes = yield* over(RedisInbox.make({ lease: 1000 }), yield* connected)
      const { received } = yield* inboxes.open("one")
      yield* restart
      yield* Stream.runDrain(received)
    }))

  const key = { session: "s", stream: "1" }
  const stored = (position: number) => ({ position, data: `${position}` })

  for (const what of ["all events of a stream", "the last events of a stream"] as const) {
    it.scoped(`no node resumes a stream from before the gap, with ${what} lost`, () =>
      Effect.gen(function*() {
        const connection = yield* connected
        const [own, other] = [
          yield* over(RedisEventStore.make(), connection),
          yield* over(RedisEventStore.make(), connection)
        ]
        const events = `${connection.prefix}{session:s}:events:1`
        const after = (store: EventStoreService, position: number) =>
          Effect.map(store.after(key, position), Option.map((found) => found.map((event) => event.position)))
        yield* own.open(key, ["1"])
        for (const position of [1, 2, 3]) yield* own.append(key, stored(position))
        if (what === "all events of a stream") {
          yield* restart
          yield* Effect.retry(own.after(key, 3), { times: 20 })
          yield* own.open(key, ["1"])
        } else yield* connection.command("XDEL", events, "3-1")
        for (const position of [1, 2]) assert.isTrue(Option.isNone(yield* after(own, position)))
        assert.deepStrictEqual(yield* after(own, 3), Option.some([]))
        yield* own.append(key, stored(4))
        for (const store of [own, other]) {
          for (const position of [1, 2]) assert.isTrue(Option.isNone(yield* after(store, position)))
          assert.deepStrictEqual(yield* after(store, 3), Option.some([4]))
        }
        yield* connection.command("XDEL", events, "4-1")
        yield* own.finish(key)
        assert.isTrue(Option.isNone(yield* after(other, 3)))
      }))
  }

  it.scoped("nodes refuse the sessions of before with 404, and serve new ones together", () =>
    Effect.gen(function*() {
      const { url } = yield* Redis
      const nodes = yield* ThreeNodes.at(url)
      const send = (node: number, body: object, session?: string) =>
        Effect.tryPromise(() =>
          fetch(nodes[node]!.url, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              ...(session === undefined ? undefined : { "mcp-session-id": session })
            },
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body })
          })
        )
      const ping = (node: number, session: string) =>
        Effect.map(send(node, { method: "ping" }, session), ({ status }) => status)
      const opened = Effect.gen(function*() {
        const { headers } = yield* send(0, {
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "test", version: "0.0.0" }
          }
        })
        return yield* Effect.fromNullable(headers.get("mcp-session-id"))
      })
      const statuses = (session: string) =>
        Effect.forEach([0, 1, 2], (node) => ping(node, session), { concurrency: "unbounded" })
      const eachAnswers = (session: string, status: number) =>
        Effect.retry(
          Effect.filterOrFail(statuses(session), (found) => found.every((one) => one === status)),
          Schedule.spaced("100 millis")
        )
      const before = yield* opened
      yield* eachAnswers(before, 200)
      yield* restart
      yield* eachAnswers(before, 404)
      yield* eachAnswers(yield* Effect.retry(opened, Schedule.spaced("100 millis")), 200)
    }))
})
