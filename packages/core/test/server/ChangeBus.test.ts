import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ChangeBusLaws from "@effect-mcp/testing/ChangeBusLaws"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Deferred, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { act, logbook, until } from "./Serving.js"

describe("a bus in memory", () => {
  const nodes = Effect.map(ChangeBus.memory(), (bus) => [bus, bus] as const)
  for (const { check, name } of ChangeBusLaws.laws) it.effect(name, () => check(nodes))
})

const versions = ["2025-11-25", "2026-07-28"] as const

const file = McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("a"))

/** A node of a server, with one client. */
const node = (bus: ChangeBus.ChangeBusService, version: typeof versions[number]) =>
  Layer.build(Layer.fresh(Layer.provide(
    TestServer.layer(Definition.make(), Layer.merge(file, act(Effect.void)), { versions: [version] }),
    Layer.succeed(ChangeBus.ChangeBus, bus)
  )))

describe("the nodes of a server with a bus", () => {
  it.scoped("join it again when it has a bug, log that, and notify their clients of everything", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const memory = yield* ChangeBus.memory()
      const broken = yield* Deferred.make<never>()
      let joins = 0
      const bus: ChangeBus.ChangeBusService = {
        join: Effect.map(memory.join, (own) => ({
          publish: () => Effect.die("a bug"),
          changes: ++joins === 1 ? Stream.fromEffect(Deferred.await(broken)) : own.changes
        }))
      }
      const own = yield* node(bus, "2025-11-25")
      const client = Context.get(own, Client.Client)
      yield* client.subscribeResource("file:///a")
      const updated = Effect.flatMap(Deferred.make<void>(), (updated) =>
        Effect.as(
          Effect.forkScoped(Stream.runForEach(client.resourceUpdates, () => Deferred.succeed(updated, undefined))),
          Deferred.await(updated)
        ))
      const afterJoining = yield* updated
      yield* Deferred.die(broken, "a bug")
      yield* until(() => lines.length === 1)
      yield* TestClock.adjust("1 second")
      yield* afterJoining
      const afterChange = yield* updated
      yield* (yield* memory.join).publish({ _tag: "Resource", uri: "file:///a" })
      yield* afterChange
      yield* Effect.provide(McpServer.resourceUpdated("file:///a"), own)
      yield* until(() => lines.length === 2)
      assert.deepStrictEqual(
        lines.map(({ level, message }) => [level, message]),
        [
          ["Error", "This node has lost the bus of changes, and joins it again"],
          ["Error", "A change could not be sent to the other nodes"]
        ]
      )
    }).pipe(Effect.provide(layer))
  })

  for (const version of versions) {
    it.scoped(`notify the clients of all nodes of changes on any of them, at ${version}`, () =>
      Effect.gen(function*() {
        const bus = yield* ChangeBus.memory()
        const nodes = [yield* node(bus, version), yield* node(bus, version)]
        const seen = yield* Effect.forEach(nodes, (node) =>
          Effect.gen(function*() {
            const client = Context.get(node, Client.Client)
            const updated = yield* Deferred.make<string>()
            const changed = yield* Deferred.make<void>()
            yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, (uri) => Deferred.succeed(updated, uri)))
            yield* Effect.forkScoped(
              Stream.runForEach(client.listChanges, () => Deferred.succeed(changed, undefined))
            )
            yield* client.awaitSubscription
            yield* client.subscribeResource("file:///a")
            return { updated, changed }
          }))
        yield* Effect.provide(McpServer.resourceUpdated("file:///a"), nodes[0]!)
        yield* Effect.provide(Registry.changed("tools"), nodes[1]!)
        for (const { changed, updated } of seen) {
          assert.strictEqual(yield* Deferred.await(updated), "file:///a")
          yield* Deferred.await(changed)
        }
      }))

    it.scoped(`notify their clients of everything when the bus has lost changes, at ${version}`, () =>
      Effect.gen(function*() {
        const bus = yield* ChangeBus.memory()
        const client = Context.get(yield* node(bus, version), Client.Client)
        const updated = yield* Deferred.make<string>()
        yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, (uri) => Deferred.succeed(updated, uri)))
        const changes = yield* Effect.forkScoped(Stream.runHead(client.listChanges))
        yield* client.awaitSubscription
        yield* client.subscribeResource("file:///a")
        yield* Effect.flatMap(bus.join, ({ publish }) => publish({ _tag: "Unknown" }))
        assert.strictEqual(yield* Deferred.await(updated), "file:///a")
        yield* Fiber.join(changes)
      }))
  }

  it.scoped("do not wait for a bus that is slow, and send one Unknown for what was too much", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const published: Array<ChangeBus.Change> = []
      const slow: ChangeBus.ChangeBusService = {
        join: Effect.succeed({
          publish: (change) => Effect.zipRight(gate.await, Effect.sync(() => published.push(change))),
          changes: Stream.never
        })
      }
      const one = yield* node(slow, "2026-07-28")
      for (let n = 0; n <= 1100; n++) yield* Effect.provide(McpServer.resourceUpdated(`test://${n}`), one)
      for (let n = 0; n <= 9; n++) yield* Effect.provide(McpServer.resourceUpdated("test://same"), one)
      yield* gate.open
      const last = JSON.stringify({ _tag: "Resource", uri: "test://same" })
      yield* Effect.iterate(0, {
        while: () => JSON.stringify(published.at(-1)) !== last,
        body: () => Effect.as(Effect.yieldNow(), 0)
      })
      assert.isTrue(published.some(({ _tag }) => _tag === "Unknown"))
      assert.isBelow(published.length, 100)
      assert.strictEqual(published.filter((change) => JSON.stringify(change) === last).length, 1)
    }))
})
