/**
 * Nodes over a Redis that refuses writes: because its memory is full, because it is a replica, or because it cannot save.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as RedisTaskStore from "@effect-mcp/redis/RedisTaskStore"
import { Context, Effect, Layer, Stream } from "effect"
import * as Refusing from "../../node/test/Refusing.js"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as RedisProcess from "./RedisProcess.js"
import * as RedisProxy from "./RedisProxy.js"

const DURABLE = ["--appendonly", "yes"]

/** How a Redis comes to refuse writes, and how it takes them again. */
const refusals: ReadonlyArray<readonly [code: string, begin: ReadonlyArray<string>, end: ReadonlyArray<string>]> = [
  ["OOM", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]],
  ["READONLY", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
  ["NOREPLICAS", ["CONFIG", "SET", "min-replicas-to-write", "1"], ["CONFIG", "SET", "min-replicas-to-write", "0"]]
]

describe.concurrent("nodes, while Redis refuses writes:", () => {
  for (const [code, begin, end] of refusals) {
    it.scopedLive(`with ${code}, a request for another node has not run, and is refused with 503 and Retry-After`, () =>
      Effect.gen(function*() {
        const redis = yield* RedisProcess.make(DURABLE)
        const { command } = yield* RedisProcess.connection(redis)
        const node = Layer.build(Layer.fresh(
          HttpServer.layer({ port: 0, health: { maxAge: 0, maxLag: "1 minute" } }).pipe(
            Layer.provide(McpServer.layer({ name: "refusing", version: "1.0.0" }, NodesLaws.features)),
            // A replica takes no renewals, either: the test may take longer than a lease by default.
            Layer.provide(Layer.merge(RedisNodes.services, RedisSessionDirectory.layerWith({ lease: "1 minute" }))),
            Layer.provide(RedisConnection.layerWith({ url: redis.url }))
          )
        )).pipe(Effect.map((context) => Context.get(context, HttpServer.HttpServer).port))
        yield* Refusing.check([yield* node, yield* node], {
          begin: command(begin[0]!, ...begin.slice(1)),
          end: command(end[0]!, ...end.slice(1))
        })
      }))
  }

  it.scopedLive("a text and a task are refused, and known not to be there", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make(DURABLE)
      const connection = yield* RedisProcess.connection(redis)
      const over = Effect.provideService(RedisConnection.RedisConnection, connection)
      const mailbox = yield* Effect.flatMap(over(RedisInbox.make()), ({ open }) => open("one"))
      const tasks = yield* over(RedisTaskStore.make())
      yield* connection.command("CONFIG", "SET", "maxmemory", "1")
      assert.strictEqual((yield* Effect.flip(mailbox.send("one", "text"))).reason, "Refused")
      assert.strictEqual((yield* Effect.flip(tasks.create(Refusing.task(Date.now())))).reason, "Refused")
    }))

  it.scopedLive("a command that was never sent is refused, and an answer that was lost is not", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make(DURABLE)
      const { command } = yield* RedisProcess.connection(redis, { timeout: 300, maxWaiting: 1 })
      yield* redis.pause
      const [lost, tooMany] = yield* Effect.all([Effect.flip(command("PING")), Effect.flip(command("PING"))], {
        concurrency: 2
      })
      assert.deepStrictEqual([lost.isRefused, tooMany.isRefused], [false, true])
      yield* redis.resume
    }))
})

describe("leases", () => {
  it.scopedLive("do not wait behind data, and have no part in its limits", () =>
    Effect.gen(function*() {
      const { url } = yield* RedisProcess.shared
      const held = yield* RedisProxy.make(url, ({ pass, text }) => text.includes("held") ? undefined : pass())
      const connection = yield* RedisProcess.connection(held, { timeout: "10 seconds", maxWaitingSize: 1000 })
      const over = Effect.provideService(RedisConnection.RedisConnection, connection)
      const { lost } = yield* Effect.flatMap(
        over(RedisSessionDirectory.make({ lease: 1000 })),
        ({ join }) => join("one")
      )
      const { received } = yield* Effect.flatMap(over(RedisInbox.make({ lease: 1000 })), ({ open }) => open("one"))
      yield* Effect.fork(connection.command("SET", `${connection.prefix}k`, "held".repeat(1000)))
      yield* Effect.yieldNow()
      const tooMany = yield* Effect.flip(connection.command("GET", `${connection.prefix}k`))
      assert.isTrue(tooMany.isRefused)
      const outcome = yield* Effect.raceAll([
        Effect.as(Effect.sleep("3 seconds"), "held"),
        Effect.as(lost, "the lease is lost"),
        Effect.as(Stream.runDrain(received), "the inbox is lost")
      ])
      assert.strictEqual(outcome, "held")
    }))
})

describe("a Redis that drops keys", () => {
  it.scopedLive("is reported at the start, with the setting that it needs", () =>
    Effect.gen(function*() {
      const eviction = (policy: string, maxmemory: string) =>
        Effect.gen(function*() {
          const redis = yield* RedisProcess.make(["--maxmemory", maxmemory, "--maxmemory-policy", policy])
          return yield* Refusing.logged(RedisConnection.make({ url: RedisProcess.documented(redis.url) }))
        })
      assert.match((yield* eviction("allkeys-random", "100mb")).join(), /maxmemory-policy allkeys-random.*noeviction/)
      assert.match((yield* eviction("volatile-ttl", "100mb")).join(), /maxmemory-policy volatile-ttl/)
      assert.deepStrictEqual(yield* eviction("noeviction", "100mb"), [])
      assert.deepStrictEqual(yield* eviction("allkeys-random", "0"), [])
    }))
})
