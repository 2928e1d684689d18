import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import { Effect, Queue, Schedule, Stream } from "effect"
import * as RedisProcess from "./RedisProcess.js"
import * as RedisProxy from "./RedisProxy.js"

/** A proxy before a server, and the addresses of the server behind it: one, or those of a cluster whose only node it is. */
const servers = {
  "a server": Effect.gen(function*() {
    const redis = yield* RedisProcess.shared
    const proxy = yield* RedisProxy.make(redis.url, ({ pass }) => pass())
    return { redis, proxy, url: proxy.url as string | ReadonlyArray<string> }
  }),
  "a cluster": Effect.gen(function*() {
    const redis = yield* RedisProcess.makeOfCluster()
    const { command } = yield* RedisProcess.connection(redis)
    yield* command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    yield* Effect.retry(command("SET", "k", "v"), Schedule.spaced("20 millis"))
    const proxy = yield* RedisProxy.make(redis.url, ({ pass }) => pass())
    yield* command("CONFIG", "SET", "cluster-announce-port", new URL(proxy.url).port)
    return { redis, proxy, url: [proxy.url, proxy.url] as string | ReadonlyArray<string> }
  })
}

describe.concurrent.each(Object.entries(servers))(
  "a connection to %s on which nothing arrives, though it stays open",
  (_, server) => {
    it.scopedLive("is replaced: commands, channels and the reader of an inbox go on", () =>
      Effect.gen(function*() {
        const { proxy, redis, url } = yield* server
        const behind = yield* RedisProcess.connection(redis)
        const { prefix } = behind
        const connection = yield* RedisConnection.make({ url, prefix, timeout: 1000 })
        const inboxOver = (connection: RedisConnection.RedisConnectionService) =>
          Effect.provideService(RedisInbox.make(), RedisConnection.RedisConnection, connection)
        const { received } = yield* (yield* inboxOver(connection)).open("one")
        const { send } = yield* (yield* inboxOver(behind)).open("two")
        const texts = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(received, (text) => Queue.offer(texts, text)))
        const woken = yield* Queue.sliding<void>(1)
        yield* connection.subscribe("c", () => void Queue.unsafeOffer(woken, undefined))
        yield* send("one", "before")
        assert.strictEqual(yield* Queue.take(texts), "before")

        yield* proxy.stall
        yield* send("one", "meanwhile")
        const again = {
          command: Effect.retry(connection.command("PING"), Schedule.spaced("20 millis")),
          channel: Queue.take(woken),
          inbox: Queue.take(texts)
        }
        const { inbox } = yield* Effect.all(again, { concurrency: "unbounded" })
        assert.strictEqual(inbox, "meanwhile")
        yield* Queue.takeAll(woken)
        yield* behind.command("PUBLISH", `${prefix}c`, "")
        yield* Queue.take(woken)
      }))

    const limits: Record<string, [options: RedisConnection.Options, sent: number]> = {
      commands: [{ maxWaiting: 100 }, 100],
      characters: [{ maxWaitingSize: 19_500 }, 20]
    }
    it.scopedLive("takes a bounded number of commands, and of characters; it refuses others at once, also after a timeout", () =>
      Effect.gen(function*() {
        const { proxy, url } = yield* server
        const timeout = 1000
        const opened = yield* Effect.forEach(
          Object.entries(limits),
          ([limit, [options, sent]]) =>
            Effect.gen(function*() {
              // Such a connection is silent for longer than its commands wait.
              const command = yield* (yield* RedisConnection.make({ url, prefix: "k", timeout, ...options })).blocking
              const set = command(0, "SET", "k", "x".repeat(1000))
              yield* set
              return { limit, sent, set }
            })
        )
        yield* proxy.stall
        yield* Effect.forEach(opened, ({ limit, sent, set }) =>
          Effect.gen(function*() {
            const errors = yield* Effect.forEach(Array.from({ length: 150 }), () => Effect.flip(set), {
              concurrency: "unbounded"
            })
            const isLate = errors.map(({ message }) =>
              message === `Redis has not answered SET within ${timeout} milliseconds`
            )
            assert.deepStrictEqual(
              isLate,
              Array.from({ length: 150 }, (_, n) => n < sent),
              limit
            )
            const refused = "Redis did not get SET: too many commands wait for its answers"
            assert.strictEqual(errors.at(-1)!.message, refused)
            assert.strictEqual((yield* Effect.flip(set)).message, refused)
            yield* Effect.retry(set, Schedule.spaced("20 millis"))
          }), { concurrency: "unbounded" })
      }))
  }
)
