import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { FeatureError } from "@effect-mcp/core/FeatureError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Cause, Chunk, Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { expectTypeOf } from "vitest"
import { act, connect, info, names, result, serve } from "./Serving.js"

const eras = ["2025-11-25", "2026-07-28"] as const
const capabilities = { tools: { listChanged: true }, resources: { listChanged: true }, prompts: { listChanged: true } }
const tools = (count: number, prefix = "tool") =>
  Layer.mergeAll(Layer.empty, ...Array.from({ length: count }, (_, i) => act(Effect.void, `${prefix}-${i}`)))
const mixed = Layer.mergeAll(
  tools(20),
  McpServer.resource(Resource.make("fixed", { uri: "test://fixed" }), Effect.succeed("")),
  McpServer.prompt(Prompt.make("prompt"), () => Effect.succeed(""))
)
const changed = "notifications/tools/list_changed"

/** A client of a server with one tool, and what its list changes are. */
const observed = (version: typeof eras[number]) =>
  TestServer.layer(Definition.make(), act(Effect.void), { versions: [version], capabilities })

const listed = Effect.flatMap(
  Client.Client,
  (client) =>
    Effect.map(Stream.runCollect(client.tools), (tools) => Chunk.toReadonlyArray(tools).map(({ name }) => name))
)

/** The list changes that the client is notified of, as they come. */
const listChanges = Effect.gen(function*() {
  const client = yield* Client.Client
  const received: Array<string> = []
  const ready = yield* Deferred.make<void>()
  const waiting: Array<[number, Deferred.Deferred<void>]> = []
  yield* Effect.forkScoped(Stream.runForEach(
    Stream.onStart(client.listChanges, Deferred.succeed(ready, undefined)),
    (kind) =>
      Effect.suspend(() => {
        received.push(kind)
        return Effect.forEach(waiting, ([n, reached]) =>
          received.length >= n ? Deferred.succeed(reached, undefined) : Effect.void)
      })
  ))
  yield* Deferred.await(ready)
  const count = (n: number) =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      waiting.push([n, reached])
      if (received.length < n) yield* Deferred.await(reached)
    })
  return { received, count }
})

for (const version of eras) {
  describe(`Features that are added at run time, for clients of ${version}`, () => {
    it.scoped("are listed and served until their scope closes, and clients are notified once for each kind", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const changes = yield* listChanges
        const scope = yield* Scope.make()
        yield* Scope.extend(Registry.add(mixed), scope)
        yield* changes.count(3)
        assert.lengthOf(yield* listed, 21)
        yield* client.callTool("tool-7")
        yield* Scope.close(scope, Exit.void)
        yield* changes.count(6)
        assert.deepStrictEqual(yield* listed, ["act"])
        assert.strictEqual((yield* Effect.flip(client.callTool("tool-7")))._tag, "InvalidParams")
        yield* Registry.changed("tools")
        yield* changes.count(7)
        assert.sameMembers(changes.received.slice(0, 3), ["tools", "resources", "prompts"])
        assert.sameMembers(changes.received.slice(3, 6), ["tools", "resources", "prompts"])
        assert.deepStrictEqual(changes.received.slice(6), ["tools"])
      }).pipe(Effect.provide(observed(version))))

    it.scoped("are one change when a batch adds and removes many", () =>
      Effect.gen(function*() {
        const changes = yield* listChanges
        const scopes = yield* Effect.forEach(Array.from({ length: 50 }, (_, i) => i), (i) =>
          Effect.gen(function*() {
            const scope = yield* Scope.make()
            yield* Scope.extend(Registry.add(act(Effect.void, `one-${i}`)), scope)
            return scope
          })).pipe(Registry.batch)
        yield* changes.count(1)
        assert.lengthOf(yield* listed, 51)
        yield* Effect.forEach(scopes, (scope) => Effect.zipRight(Effect.yieldNow(), Scope.close(scope, Exit.void)))
          .pipe(
            Effect.zipRight(Registry.add(act(Effect.void, "late"))),
            Registry.batch
          )
        yield* changes.count(2)
        assert.deepStrictEqual(yield* listed, ["act", "late"])
        yield* Registry.changed()
        yield* changes.count(3)
        assert.deepStrictEqual(changes.received, ["tools", "tools", "tools"])
      }).pipe(Effect.provide(observed(version))))

    it.scoped("end their calls, also when they are removed meanwhile", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const [began, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const scope = yield* Scope.make()
        const slow = act(Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(gate)), "slow")
        yield* Scope.extend(Registry.add(slow), scope)
        const calling = yield* Effect.fork(client.callTool("slow"))
        yield* Deferred.await(began)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* listed, ["act"])
        yield* Deferred.succeed(gate, undefined)
        assert.notStrictEqual((yield* Fiber.join(calling)).isError, true)
      }).pipe(Effect.provide(observed(version))))
  })
}

describe("Registry.add", () => {
  it.scoped("adds all features or none, and fails with the name that is taken", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const taken = yield* Effect.flip(Registry.add(Layer.merge(act(Effect.void, "new"), act(Effect.void))))
      assert.instanceOf(taken, FeatureError)
      assert.deepInclude(taken, { _tag: "FeatureError", reason: "Taken" })
      assert.include(taken.message, `tools named "act"`)
      yield* peer.expectNotification(changed)
      assert.deepStrictEqual(yield* names(peer), ["act"])
      yield* Registry.add(act(Effect.void, "new"))
      yield* peer.expectNotification(changed)
      assert.deepStrictEqual(yield* names(peer), ["act", "new"])
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.scoped("fails as its layer does, and releases what the layer has built", () =>
    Effect.gen(function*() {
      let open = 0
      const counted = Layer.scopedDiscard(
        Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--))
      )
      const broken = counted.pipe(
        Layer.provideMerge(act(Effect.void, "new")),
        Layer.provideMerge(Layer.effectDiscard(Effect.fail("broken" as const)))
      )
      assert.strictEqual(yield* Effect.flip(Registry.add(broken)), "broken")
      assert.strictEqual(open, 0)
      assert.isUndefined((yield* Registry.Running).tools.get("new"))
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.scoped("fails after the server has shut down", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const server = yield* Layer.buildWithScope(serve(act(Effect.void)), scope)
      yield* Scope.close(scope, Exit.void)
      const closed = yield* Effect.flip(Effect.provide(Registry.add(act(Effect.void, "late")), server))
      assert.deepInclude(closed, { _tag: "FeatureError", reason: "Closed" })
      assert.include(closed.message, "shut down")
      assert.include(closed.message, `"late"`)
    }))

  it.scoped("adds features before a transport listens, and the same feature again after it was removed", () =>
    Effect.gen(function*() {
      const feature = act(Effect.void, "again")
      yield* Effect.scoped(Registry.add(feature))
      yield* Registry.add(feature)
      const peer = yield* connect()
      assert.deepStrictEqual(yield* names(peer), ["act", "again"])
      yield* result(peer, "again")
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.scoped("uses the services of the fiber that adds, and builds them anew for each feature", () =>
    Effect.gen(function*() {
      class Db extends Context.Tag("Db")<Db, number>() {}
      let built = 0
      const seen: Array<number> = []
      const feature = (name: string) => act(Effect.map(Db, (n) => seen.push(n)), name)
      yield* Registry.add(Layer.provide(feature("a"), Layer.sync(Db, () => ++built)))
      yield* Effect.provideService(Registry.add(feature("b")), Db, 7)
      const peer = yield* connect()
      yield* result(peer, "a")
      yield* result(peer, "b")
      assert.deepStrictEqual(seen, [1, 7])
      expectTypeOf(Registry.add(feature("c"))).toEqualTypeOf<
        Effect.Effect<void, FeatureError, Db | Registry.Running | Scope.Scope>
      >()
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.scoped("notifies of what a fiber of a feature adds after the batch that started it", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const growing = Layer.scopedDiscard(
        Effect.forkScoped(Effect.zipRight(Deferred.await(gate), Layer.build(act(Effect.void, "later"))))
      )
      const peer = yield* connect()
      yield* Registry.add(Layer.merge(growing, act(Effect.void, "now")))
      yield* peer.expectNotification(changed)
      yield* Deferred.succeed(gate, undefined)
      yield* peer.expectNotification(changed)
      assert.deepStrictEqual(yield* names(peer), ["act", "later", "now"])
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.scoped("notifies once of a batch that fails, and of one in another", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const scope = yield* Effect.scope
      const add = (name: string) => Scope.extend(Registry.add(act(Effect.void, name)), scope)
      const exit = yield* add("a").pipe(
        Effect.zipRight(Registry.batch(Effect.zipRight(add("b"), add("c")))),
        Effect.zipRight(peer.expectSilence),
        Effect.zipRight(Effect.fail("stopped")),
        Registry.batch,
        Effect.exit
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.isFailType(exit.cause))
      yield* peer.expectNotification(changed)
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(act(Effect.void)))))
})

describe("McpServer.define", () => {
  class Cart extends Context.Tag("Cart")<Cart, Array<string>>() {}
  class Quota extends Context.Tag("Quota")<Quota, string>() {}
  class Db extends Context.Tag("Db")<Db, string>() {}

  const shop = McpServer.define(info, {
    session: Layer.sync(Cart, () => []),
    sessionMiddleware: Middleware.provide(Quota, () => Effect.map(Cart, (cart) => `after ${cart.length}`))
  })
  const buy = (item: string) =>
    act(
      Effect.gen(function*() {
        const cart = yield* Cart
        cart.push(`${item} ${yield* Quota} ${yield* Db}`)
        seen.push([...cart])
      }),
      `buy-${item}`
    )
  const seen: Array<ReadonlyArray<string>> = []

  it.scoped("adds features that use the session and what the middleware provides", () =>
    Effect.gen(function*() {
      const peers = [yield* connect(), yield* connect()]
      yield* shop.add(buy("tea"))
      for (const peer of peers) yield* peer.expectNotification(changed)
      yield* result(peers[0]!, "buy-bread")
      yield* result(peers[0]!, "buy-tea")
      yield* result(peers[1]!, "buy-tea")
      assert.deepStrictEqual(seen, [
        ["bread after 0 db"],
        ["bread after 0 db", "tea after 1 db"],
        ["tea after 0 db"]
      ])
    }).pipe(Effect.provide(shop.layer(buy("bread"))), Effect.provideService(Db, "db")))

  it("requires of a feature only what the server does not know", () => {
    expectTypeOf(shop.add(buy("tea"))).toEqualTypeOf<
      Effect.Effect<void, FeatureError, Db | Registry.Running | Scope.Scope>
    >()
    expectTypeOf(shop.layer(buy("tea"))).toEqualTypeOf<Layer.Layer<Dispatcher | Registry.Running, never, Db>>()
    expectTypeOf(Registry.add(buy("tea"))).toEqualTypeOf<
      Effect.Effect<void, FeatureError, Cart | Quota | Db | Registry.Running | Scope.Scope>
    >()
    const requiring = McpServer.define(info, { session: Layer.effect(Cart, Effect.as(Db, [])) })
    expectTypeOf(requiring.layer(Layer.empty)).toEqualTypeOf<Layer.Layer<Dispatcher | Registry.Running, never, Db>>()
  })
})
