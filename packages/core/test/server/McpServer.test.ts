import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import { Dispatcher, type DispatcherService } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Schema, Scope, TestClock } from "effect"
import { act, call, connect, Greet, GreetLive, names, result, serve, uninitialized } from "./Serving.js"

class Db extends Context.Tag("Db")<Db, { readonly find: (q: string) => Effect.Effect<string> }>() {}

const text = (result: unknown) =>
  (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]?.text

/** A client that was answered, and said that it is ready too early, and in no way that counts. */
const connectHalf = Effect.gen(function*() {
  const peer = yield* uninitialized
  yield* peer.notify("notifications/initialized")
  const id = yield* peer.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "0.0.0" }
  })
  yield* peer.expectResult(id)
  yield* peer.notify("notifications/initialized", { _meta: 1 })
  return peer
})

/** The registry of a server, which features find in their context. */
const registryOf = <E, R>(features: Layer.Layer<never, E, R>) =>
  Effect.map(Deferred.make<RegistryService>(), (registry) => ({
    registry: Deferred.await(registry),
    features: Layer.merge(features, Layer.effectDiscard(Effect.flatMap(Registry, (r) => Deferred.succeed(registry, r))))
  }))

describe("A server", () => {
  it.scoped("offers everything that its features register, and uses the services that they require", () =>
    Effect.gen(function*() {
      const Find = Tool.make("find", { parameters: { q: Schema.String } })
      const FindLive = McpServer.tool(Find, ({ q }) => Effect.flatMap(Db, (db) => db.find(q)))
      const DbLive = Layer.succeed(Db, { find: (q) => Effect.succeed(`found ${q}`) })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* names(peer), ["find", "greet"])
        assert.strictEqual(text(yield* result(peer, "find", { q: "it" })), "found it")
        assert.strictEqual(text(yield* result(peer, "greet", { name: "Ada" })), "Hello, Ada!")
      }).pipe(Effect.provide(Layer.provide(serve(Layer.merge(GreetLive, FindLive)), DbLive)))
    }))

  it.scoped("offers all tools of a definition at once", () =>
    Effect.gen(function*() {
      const promised = Definition.make(Greet, Tool.make("now"))
      const features = McpServer.implement(promised, {
        greet: ({ name }) => Effect.succeed(name),
        now: () => Effect.map(Db, () => "now")
      })
      const DbLive = Layer.succeed(Db, { find: Effect.succeed })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* names(peer), ["greet", "now"])
        assert.strictEqual(text(yield* result(peer, "now")), "now")
        assert.strictEqual(text(yield* result(peer, "greet", { name: "Ada" })), "Ada")
      }).pipe(Effect.provide(Layer.provide(serve(features), DbLive)))
    }))

  it.scoped("offers a definition with every kind of entry at once, and uses the services that each requires", () =>
    Effect.gen(function*() {
      const id = ResourceTemplate.param("id", Schema.NumberFromString)
      const promised = Definition.make(
        Greet,
        Resource.make("readme", { uri: "file:///README.md" }),
        ResourceTemplate.make("note")`note:///${id}`,
        Prompt.make("review", { arguments: { code: Schema.String } })
      )
      const find = (q: string) => Effect.flatMap(Db, (db) => db.find(q))
      const features = McpServer.implement(promised, {
        greet: ({ name }) => find(name),
        resources: { readme: find("readme") },
        templates: { note: ({ id }, uri) => find(`${id + 1} at ${uri}`) },
        prompts: { review: ({ code }) => find(code) }
      })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const ask = (method: string, params: JsonObject) =>
          Effect.map(Effect.flatMap(peer.request(method, params), peer.expectResult), JSON.stringify)
        assert.strictEqual(text(yield* result(peer, "greet", { name: "Ada" })), "<Ada>")
        assert.include(yield* ask("resources/read", { uri: "file:///README.md" }), `"<readme>"`)
        assert.include(yield* ask("resources/read", { uri: "note:///1" }), `"<2 at note:///1>"`)
        assert.include(yield* ask("prompts/get", { name: "review", arguments: { code: "x" } }), `"<x>"`)
      }).pipe(Effect.provide(
        Layer.provide(serve(features), Layer.succeed(Db, { find: (q) => Effect.succeed(`<${q}>`) }))
      ))
    }))

  it.effect("fails to build with a feature that fails, and releases the others", () =>
    Effect.gen(function*() {
      let released = 0
      const Kept = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => released++)))
      const Broken = Layer.provide(Layer.effectDiscard(Effect.fail("broken")), Kept)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(serve(Layer.merge(GreetLive, Broken)))))
      assert.strictEqual(error, "broken")
      assert.strictEqual(released, 1)
    }))

  it.effect("has all features in its first answer, however long a feature takes to build", () =>
    Effect.gen(function*() {
      const SlowLive = Layer.unwrapEffect(
        Effect.delay(Effect.succeed(McpServer.tool(Tool.make("slow"), () => Effect.void)), "1 hour")
      )
      const first = yield* Effect.fork(
        Effect.gen(function*() {
          const peer = yield* connect()
          return yield* names(peer)
        }).pipe(Effect.scoped, Effect.provide(serve(Layer.merge(GreetLive, SlowLive))))
      )
      yield* TestClock.adjust("59 minutes")
      assert.isNull(first.unsafePoll())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(first), ["greet", "slow"])
    }))

  it.effect("shares no feature with another server, also where both have the same layer", () =>
    Effect.gen(function*() {
      let built = 0
      const Counted = Layer.merge(GreetLive, Layer.effectDiscard(Effect.sync(() => built++)))
      class One extends Context.Tag("One")<One, DispatcherService>() {}
      class Two extends Context.Tag("Two")<Two, DispatcherService>() {}
      const both = Layer.merge(
        Layer.project(serve(Counted), Dispatcher, One, (dispatcher) => dispatcher),
        Layer.project(serve(Counted), Dispatcher, Two, (dispatcher) => dispatcher)
      )
      yield* Effect.gen(function*() {
        for (const dispatcher of [yield* One, yield* Two]) {
          const peer = yield* Effect.provideService(connect(), Dispatcher, dispatcher)
          assert.deepStrictEqual(yield* names(peer), ["greet"])
          assert.strictEqual(text(yield* result(peer, "greet", { name: "Ada" })), "Hello, Ada!")
        }
        assert.strictEqual(built, 2)
      }).pipe(Effect.scoped, Effect.provide(both))
    }))

  it.effect("builds a service once that two of its features require", () =>
    Effect.gen(function*() {
      let built = 0
      const DbLive = Layer.sync(Db, () => ({ find: () => Effect.succeed(String(++built)) }))
      const find = (name: string) =>
        Layer.provide(McpServer.tool(Tool.make(name), () => Effect.flatMap(Db, (db) => db.find(name))), DbLive)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual([text(yield* result(peer, "a")), text(yield* result(peer, "b"))], ["1", "2"])
      }).pipe(Effect.scoped, Effect.provide(serve(Layer.merge(find("a"), find("b")))))
    }))
})

describe("A handler gets", () => {
  it.scoped("the scope of the request, never that of its registration", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const handler = act(Effect.gen(function*() {
        const scope = yield* Effect.scope
        yield* Scope.addFinalizer(scope, Effect.sync(() => log.push("request")))
        log.push("handler")
      }))
      const feature = Layer.provide(
        handler,
        Layer.scopedContext(Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => log.push("registration")))
          return Context.make(Scope.Scope, yield* Effect.scope)
        }))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        yield* result(peer, "act")
        log.push("answered")
      }).pipe(Effect.scoped, Effect.provide(serve(feature)))
      assert.deepStrictEqual(log, ["handler", "request", "handler", "request", "answered", "registration"])
    }))

  it.scoped("the context and the session of the request, also when it was registered in another request", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const inner = McpServer.tool(Tool.make("inner"), () =>
        Effect.gen(function*() {
          seen.push((yield* RequestContext).id, (yield* ServerSession).id)
        }))
      const outer = act(
        Effect.gen(function*() {
          const registry = yield* Registry
          const scope = yield* Effect.scope
          // What the handler itself holds is all that the inner feature could capture.
          yield* Layer.buildWithScope(Layer.provide(inner, Layer.succeed(Registry, registry)), scope)
          yield* Effect.flatMap(ServerSession, (session) => Effect.orDie(session.request("roots/list")))
        }),
        "outer"
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "outer")
        const question = yield* peer.expectRequest("roots/list")
        yield* peer.expectNotification("notifications/tools/list_changed")
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "inner" }, "mine"))
        assert.deepStrictEqual(seen, ["mine", "mine"])
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: { roots: [] } })
        yield* peer.expectResult(id)
        yield* peer.expectNotification("notifications/tools/list_changed")
      }).pipe(Effect.provide(serve(outer)))
    }))

  it.scoped("the service that its own layer provides, whatever the server has", () =>
    Effect.gen(function*() {
      const find = (name: string) =>
        Layer.provide(
          McpServer.tool(Tool.make(name), () => Effect.flatMap(Db, (db) => db.find(name))),
          Layer.succeed(Db, { find: () => Effect.succeed(`${name}'s`) })
        )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.strictEqual(text(yield* result(peer, "a")), "a's")
        assert.strictEqual(text(yield* result(peer, "b")), "b's")
      }).pipe(Effect.provide(serve(Layer.merge(find("a"), find("b")))))
    }))
})

describe("A feature that is added and removed", () => {
  const two = Layer.merge(act(Effect.void, "one"), act(Effect.void, "two"))

  it.scoped("is announced once for all its changes, to clients that are initialized", () =>
    Effect.gen(function*() {
      const { features, registry } = yield* registryOf(GreetLive)
      yield* Effect.gen(function*() {
        const ready = yield* connect()
        const other = yield* connect("2024-11-05")
        const waiting = yield* connectHalf
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(Layer.provide(two, Layer.succeed(Registry, yield* registry)), scope)
        for (const peer of [ready, other]) {
          yield* peer.expectNotification("notifications/tools/list_changed")
          assert.deepStrictEqual(yield* names(peer), ["greet", "one", "two"])
        }
        yield* result(ready, "one")
        yield* Scope.close(scope, Exit.void)
        for (const peer of [ready, other]) {
          yield* peer.expectNotification("notifications/tools/list_changed")
          assert.deepStrictEqual(yield* names(peer), ["greet"])
        }
        assert.strictEqual((yield* ready.expectError(yield* call(ready, "one"))).message, "Unknown tool: one")
        // The client that was not initialized got no notification, and finds everything in the list.
        yield* waiting.expectSilence
        assert.deepStrictEqual(yield* names(waiting), ["greet"])
        for (const peer of [ready, other]) yield* peer.expectSilence
      }).pipe(Effect.provide(serve(features)))
    }))

  it.scoped("does not interrupt a call that is running", () =>
    Effect.gen(function*() {
      const { features, registry } = yield* registryOf(GreetLive)
      const started = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const handler = Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate))
      yield* Effect.gen(function*() {
        const scope = yield* Scope.make()
        const waiting = Layer.provide(act(handler), Layer.succeed(Registry, yield* registry))
        yield* Layer.buildWithScope(waiting, scope)
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* Scope.close(scope, Exit.void)
        yield* peer.expectNotification("notifications/tools/list_changed")
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(id)
      }).pipe(Effect.provide(serve(features)))
    }))

  it.scoped("leaves an empty list", () =>
    Effect.gen(function*() {
      const { features, registry } = yield* registryOf(Layer.empty)
      yield* Effect.gen(function*() {
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(Layer.provide(two, Layer.succeed(Registry, yield* registry)), scope)
        const peer = yield* connect()
        yield* Scope.close(scope, Exit.void)
        yield* peer.expectNotification("notifications/tools/list_changed")
        assert.deepStrictEqual(yield* names(peer), [])
        assert.strictEqual((yield* peer.expectError(yield* call(peer, "one"))).code, -32602)
      }).pipe(Effect.provide(serve(features)))
    }))

  it.scoped("is not announced to clients without the tools capability", () =>
    Effect.gen(function*() {
      const { features, registry } = yield* registryOf(Layer.empty)
      yield* Effect.gen(function*() {
        const before = yield* connect()
        const scope = yield* Effect.scope
        yield* Layer.buildWithScope(Layer.provide(two, Layer.succeed(Registry, yield* registry)), scope)
        const after = yield* connect()
        yield* Effect.scoped(Layer.build(Layer.provide(act(Effect.void), Layer.succeed(Registry, yield* registry))))
        yield* after.expectNotification("notifications/tools/list_changed")
        yield* before.expectSilence
      }).pipe(Effect.provide(serve(features)))
    }))
})
