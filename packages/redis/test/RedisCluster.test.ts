/**
 * Everything over a cluster of three: the keys of one script are in one slot, and commands follow slots that move.
 * It takes more than ten seconds: it starts three servers, stops them and waits until the others have noticed.
 */
import { assert, layer } from "@effect/vitest"
import * as RedisChangeBus from "@effect-mcp/redis/RedisChangeBus"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import { RedisError } from "@effect-mcp/redis/RedisError"
import * as RedisEventStore from "@effect-mcp/redis/RedisEventStore"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import * as RedisSealKeys from "@effect-mcp/redis/RedisSealKeys"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as RedisSharedLimits from "@effect-mcp/redis/RedisSharedLimits"
import * as RedisTaskStore from "@effect-mcp/redis/RedisTaskStore"
import * as ChangeBusLaws from "@effect-mcp/testing/ChangeBusLaws"
import * as EventStoreLaws from "@effect-mcp/testing/EventStoreLaws"
import * as InboxLaws from "@effect-mcp/testing/InboxLaws"
import * as SealKeysLaws from "@effect-mcp/testing/SealKeysLaws"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import * as SharedLimitsLaws from "@effect-mcp/testing/SharedLimitsLaws"
import * as TaskStoreLaws from "@effect-mcp/testing/TaskStoreLaws"
import { Context, Duration, Effect, Layer, Option, Queue, Schedule, type Scope, TestContext } from "effect"
import { isTaken } from "../../node/test/Third.js"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as RedisProcess from "./RedisProcess.js"
import * as ThreeNodes from "./ThreeNodes.js"
import { unhandled } from "./unhandled.js"

class Cluster extends Context.Tag("test/Cluster")<Cluster, RedisProcess.RedisCluster>() {}

const shared = Layer.scoped(Cluster, RedisProcess.cluster)

layer(shared, { excludeTestServices: true, timeout: "30 seconds" })("a cluster of three Redis servers", (it) => {
  let place = 0
  /**
   * A run takes a third of the laws, which a single server keeps in the other files. The laws wait for Redis most of the time: they
   * wait together.
   */
  const law = (name: string, check: () => Effect.Effect<unknown, unknown, Cluster | Scope.Scope>) => {
    if (isTaken(place++)) it.scoped(name, check, { concurrent: true, timeout: 60_000 })
  }

  const over = <A, E, R>(service: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Cluster, ({ urls }) => RedisProcess.pairAt(urls, service))

  for (const { check, name } of ChangeBusLaws.laws) {
    law(`carries changes: ${name}`, () => check(over(RedisChangeBus.make())))
  }
  for (const { check, name } of EventStoreLaws.laws) {
    law(`stores events: ${name}`, () => check(over(RedisEventStore.make())))
  }
  for (const { check, name } of EventStoreLaws.claims) {
    const node = Effect.all({ events: RedisEventStore.make(), sessions: RedisSessionDirectory.make() })
    law(`stores events: ${name}`, () => check(over(node)))
  }
  for (const { check, name } of InboxLaws.laws) {
    law(`has inboxes: ${name}`, () => check(over(RedisInbox.make())))
  }
  for (const { check, name } of SessionDirectoryLaws.laws) {
    law(`has a directory: ${name}`, () => check(over(RedisSessionDirectory.make())))
  }
  for (const { check, name } of SharedLimitsLaws.laws) {
    law(`limits: ${name}`, () => check(over(RedisSharedLimits.make)))
  }
  for (const { check, name } of TaskStoreLaws.laws) {
    law(`stores tasks: ${name}`, () => check(over(RedisTaskStore.make())))
  }

  for (const { check, name } of NodesLaws.laws) {
    law(`has nodes that ${name}`, () => check(Effect.flatMap(Cluster, ({ urls }) => ThreeNodes.at(urls))))
  }

  for (const { check, name } of SealKeysLaws.laws) {
    const keys = RedisSealKeys.make(SealKeysLaws.rotation)
    law(
      `has keys: ${name}`,
      () =>
        Effect.flatMap(Cluster, ({ urls }) => check(RedisProcess.pairInTestTime(urls, keys))).pipe(
          Effect.provide(TestContext.TestContext)
        )
    )
  }

  it.scoped("answers the first commands of a connection, though it connects to each of the three at the first one", () =>
    Effect.gen(function*() {
      const { urls } = yield* Cluster
      const { command, prefix } = yield* RedisConnection.make({ url: urls, prefix: "first:" })
      const keys = Array.from({ length: 30 }, (_, n) => `${prefix}${n}`)
      const replies = yield* Effect.forEach(keys, (key) => command("SET", key, ""), { concurrency: "unbounded" })
      assert.isTrue(replies.every((reply) => reply === "OK"))
    }))

  it.scoped("goes on with a session whose slot moves to another one", () =>
    Effect.gen(function*() {
      const { nodeOf, nodes, urls } = yield* Cluster
      const connection = yield* RedisConnection.make({ url: urls, prefix: "moved:" })
      const provided = Effect.provideService(RedisConnection.RedisConnection, connection)
      const directory = yield* provided(RedisSessionDirectory.make())
      const events = yield* provided(RedisEventStore.make())
      const { create, find, update } = yield* directory.join("node")
      const [session, stream] = ["moving", { session: "moving", stream: "1", epoch: 1 }]
      yield* create(session, { n: 1 })
      yield* events.append(stream, { position: 1, data: "before" })

      const key = `{session:${session}}`
      const from = yield* nodeOf(key)
      const to = (from + 1) % nodes.length
      const [source, target] = [nodes[from]!, nodes[to]!]
      const slot = Number(yield* source.command("CLUSTER", "KEYSLOT", key))
      yield* target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
      yield* source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
      // Its keys are at the source still, and others of the slot are not there any more.
      assert.deepStrictEqual(Option.getOrThrow(yield* find(session)).facts, { n: 1 })
      assert.isNull(yield* connection.command("GET", `${key}:none`))
      const meanwhile = yield* Effect.fork(
        events.append({ ...stream, stream: "2" }, { position: 1, data: "meanwhile" })
      )

      const { hostname, port } = new URL(target.url)
      const keys = (yield* source.command("CLUSTER", "GETKEYSINSLOT", slot, 100)) as ReadonlyArray<string>
      yield* source.command("MIGRATE", hostname, port, "", 0, 5000, "KEYS", ...keys)
      for (const { command } of [target, source, ...nodes]) {
        yield* command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
      }
      assert.isTrue(yield* update(session, 1, { n: 2 }))
      assert.deepStrictEqual(Option.getOrThrow(yield* find(session)).facts, { n: 2 })
      yield* meanwhile
      yield* events.append(stream, { position: 2, data: "after" })
      const stored = (name: string) =>
        Effect.map(
          events.after({ ...stream, stream: name }, -1),
          (found) => Option.getOrThrow(found).map(({ data }) => data)
        )
      assert.deepStrictEqual(yield* stored("1"), ["before", "after"])
      assert.deepStrictEqual(yield* stored("2"), ["meanwhile"])
    }))

  it.scoped("listens to its channels at another node when one ends or leaves, and wakes the listeners", () =>
    Effect.gen(function*() {
      const { nodes, settled, urls } = yield* Cluster
      const { command, prefix, subscribe } = yield* RedisConnection.make({ url: urls, prefix: "channels:" })
      const woken = yield* Queue.unbounded<void>()
      const channel = `${prefix}c`
      yield* subscribe("c", () => void Queue.unsafeOffer(woken, undefined))
      // A node that has ended does not answer.
      const at = Effect.firstSuccessOf(nodes.map(({ command }, at) =>
        Effect.as(
          Effect.filterOrFail(command("PUBSUB", "CHANNELS", channel), (found) => String(found) === channel),
          at
        )
      )).pipe(Effect.retry(Schedule.spaced("20 millis")))
      const heard = Effect.gen(function*() {
        yield* Queue.takeAll(woken)
        yield* command("PUBLISH", channel, "")
        yield* Queue.take(woken)
      })
      yield* heard
      const first = yield* at
      yield* nodes[first]!.command("CLIENT", "KILL", "TYPE", "pubsub")
      yield* Queue.take(woken)
      const second = yield* at
      assert.notStrictEqual(second, first)
      yield* heard
      yield* nodes[second]!.restart
      yield* Queue.take(woken)
      assert.notStrictEqual(yield* at, second)
      yield* settled
      yield* heard
    }))

  it.scoped("survives a node that ends before it has answered what the driver sends by itself", () =>
    Effect.gen(function*() {
      const errors = yield* unhandled
      const { nodeOf, nodes, settled, urls } = yield* Cluster
      const { command } = yield* RedisConnection.make({ url: urls, prefix: "asking:", timeout: 1000 })
      const key = "asking:k"
      const from = yield* nodeOf(key)
      const [source, target] = [nodes[from]!, nodes[(from + 1) % nodes.length]!]
      const slot = Number(yield* source.command("CLUSTER", "KEYSLOT", key))
      yield* target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
      yield* source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
      yield* command("SET", key, "v", "XX")
      yield* target.pause
      // The source does not have it: the driver sends ASKING to the target, and the command after it.
      yield* Effect.flip(command("GET", key))
      yield* target.restart
      for (const node of [source, target]) {
        yield* Effect.retry(node.command("CLUSTER", "SETSLOT", slot, "STABLE"), Schedule.spaced("20 millis"))
      }
      yield* settled
      yield* Effect.retry(command("SET", key, "v"), Schedule.spaced("20 millis"))
      assert.deepStrictEqual(errors, [])
    }))

  it.scoped("gets user and password at nodes that are not among the addresses, too", () =>
    Effect.gen(function*() {
      const { nodes, urls } = yield* Cluster
      for (const node of nodes) yield* node.command("ACL", "SETUSER", "ada", "on", ">secret", "~*", "&*", "+@all")
      const url = urls[0]!.replace("//", "//ada:secret@")
      const { command, prefix } = yield* RedisConnection.make({ url: [url, url], prefix: "user:" })
      yield* Effect.forEach(Array.from({ length: 30 }, (_, n) => n), (n) => command("SET", `${prefix}${n}`, ""))
      for (const node of nodes) assert.include(String(yield* node.command("CLIENT", "LIST")), "user=ada")
    }))

  it.scoped("fails in time while one of them is away, and goes on when it is back", () =>
    Effect.gen(function*() {
      const { nodeOf, nodes, urls } = yield* Cluster
      const timeout = 1000
      const { command } = yield* RedisConnection.make({ url: urls, prefix: "away:", timeout })
      const lost = nodes[yield* nodeOf("away:k")]!
      const set = command("SET", "away:k", "v")
      yield* set
      const fails = Effect.gen(function*() {
        const [took, error] = yield* Effect.timed(Effect.flip(set))
        assert.instanceOf(error, RedisError)
        assert.isBelow(Duration.toMillis(took), 4 * timeout)
      })
      const returns = Effect.retry(set, Schedule.spaced("100 millis"))
      yield* lost.pause
      yield* fails
      yield* lost.resume
      yield* returns
      yield* lost.restart
      yield* returns
    }), { sequential: true, timeout: 30_000 })
})
