import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { act, GreetLive, serve } from "../Serving.js"
import { call, connect, envelope, error, request, result, silence } from "./Modern.js"

const ID = "io.modelcontextprotocol/subscriptionId"

/** A client that disconnects at the end of the test, before its subscriptions end. */
const leaving = Effect.tap(connect, (peer) => Effect.addFinalizer(() => peer.hangUp))

/** Calls a tool, and gives the notification that it causes, which comes before or after the result. */
const caused = (peer: TestPeer.TestPeer, name: string) =>
  Effect.gen(function*() {
    yield* request(peer, "tools/call", { name })
    const both = [yield* peer.next, yield* peer.next]
    return both.find(Message.isNotification)
  })

const listen = (peer: TestPeer.TestPeer, notifications: JsonObject, id?: Message.RequestId) =>
  Effect.gen(function*() {
    const sent = yield* peer.request("subscriptions/listen", { notifications, ...envelope() }, id)
    const { _meta, notifications: honoured } = yield* peer.expectNotification(
      "notifications/subscriptions/acknowledged"
    )
    assert.deepStrictEqual(_meta, { [ID]: sent })
    return [sent, honoured] as const
  })

const Readme = McpServer.resource(Resource.make("readme", { uri: "file:///docs/readme" }), Effect.succeed("text"))

/** A tool that adds another one, for as long as the server runs. */
const grow = Layer.unwrapEffect(Effect.map(Effect.all([Registry.Registry, Effect.scope]), ([registry, scope]) => {
  let n = 0
  const add = Effect.suspend(() =>
    Layer.buildWithScope(act(Effect.void, `tool-${n++}`), scope).pipe(
      Effect.provideService(Registry.Registry, registry)
    )
  )
  return Layer.merge(act(add, "grow"), act(Effect.replicateEffect(add, 10), "many"))
})) as Layer.Layer<never, never, Registry.Registry>

const touch = (uri: string, name = "touch") =>
  act(McpServer.resourceUpdated(uri), name) as Layer.Layer<never, never, Registry.Registry>

describe("subscriptions/listen", () => {
  it.effect("MUST be acknowledged first, with the notifications that the server supports", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const [, honoured] = yield* listen(peer, {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: false,
        resourceSubscriptions: ["file:///docs/readme", "file:///docs/readme"],
        "com.example/other": true
      }, 7)
      assert.deepStrictEqual(honoured, { toolsListChanged: true, resourceSubscriptions: ["file:///docs/readme"] })
      const [, none] = yield* listen(peer, {}, "empty")
      assert.deepStrictEqual(none, {})
    }).pipe(Effect.scoped, Effect.provide(serve(Layer.merge(GreetLive, Readme)))))

  it.effect("is refused with -32602 without a filter", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      assert.strictEqual((yield* error(peer, "subscriptions/listen")).code, -32602)
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive))))

  it.effect("receives the changes of the lists in its filter, with its id, and MUST NOT receive others", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const [id] = yield* listen(peer, { toolsListChanged: true }, 3)
      yield* listen(peer, { promptsListChanged: true }, "prompts")
      const called = yield* request(peer, "tools/call", { name: "grow" })
      yield* peer.expectResult(called)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/tools/list_changed"), {
        _meta: { [ID]: id }
      })
      yield* silence(peer)
    }).pipe(Effect.scoped, Effect.provide(serve(grow))))

  it.effect("receives several changes at once as one", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      yield* listen(peer, { toolsListChanged: true })
      yield* call(peer, "many")
      yield* peer.expectNotification("notifications/tools/list_changed")
      yield* silence(peer)
    }).pipe(Effect.scoped, Effect.provide(serve(grow))))

  it.effect("receives updates of its resources and of those below them only", () => {
    const features = Layer.mergeAll(
      Readme,
      touch("file:///docs/readme"),
      touch("file:///docs/readme/part", "part"),
      touch("file:///docs/readme2", "other")
    )
    return Effect.gen(function*() {
      const peer = yield* leaving
      yield* listen(peer, { resourceSubscriptions: ["file:///docs/readme"] }, "r")
      assert.deepStrictEqual(
        yield* caused(peer, "touch"),
        Message.notification("notifications/resources/updated", { uri: "file:///docs/readme", _meta: { [ID]: "r" } })
      )
      assert.strictEqual((yield* caused(peer, "part"))?.params?.uri, "file:///docs/readme/part")
      yield* call(peer, "other")
      yield* silence(peer)
    }).pipe(Effect.scoped, Effect.provide(serve(features)))
  })

  it.effect("receives one update of a resource that several of its URIs include, and none after it has ended", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const uris = ["file:///docs/a", "file:///docs", "file:///docs/", "file:///", "file:", "file:///docs/a"]
      const [id] = yield* listen(peer, { resourceSubscriptions: uris })
      assert.deepInclude(yield* caused(peer, "touch"), {
        method: "notifications/resources/updated",
        params: { uri: "file:///docs/a", _meta: { [ID]: id } }
      })
      yield* silence(peer)
      yield* peer.notify("notifications/cancelled", { requestId: id })
      yield* call(peer, "touch")
      yield* silence(peer)
    }).pipe(Effect.scoped, Effect.provide(serve(Layer.merge(Readme, touch("file:///docs/a"))))))

  it.effect("MUST NOT carry progress and log messages: they belong to their own request", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      yield* listen(peer, { toolsListChanged: true })
      yield* call(peer, "act")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        serve(
          act(Effect.flatMap(ServerSession, ({ log, progress }) => Effect.zipRight(log("error", "x"), progress(1))))
        )
      )
    ))

  it.effect("ends when its client cancels it, without an answer", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const [requestId] = yield* listen(peer, { toolsListChanged: true })
      yield* peer.notify("notifications/cancelled", { requestId })
      yield* call(peer, "grow")
      yield* silence(peer)
    }).pipe(Effect.scoped, Effect.provide(serve(grow))))

  it.effect("SHOULD end with its result when the server ends the conversation, after a cancellation", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const [mine, theirs] = yield* Transport.memory()
      const peer = yield* TestPeer.make(mine)
      const accepted = yield* Effect.fork(dispatcher.accept(theirs))
      const [id] = yield* listen(peer, { toolsListChanged: true }, 5)
      yield* Fiber.interrupt(accepted)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/cancelled"), {
        requestId: 5,
        _meta: { [ID]: 5 }
      })
      assert.deepStrictEqual(yield* peer.expectResult(id), {
        resultType: "complete",
        _meta: { [ID]: 5, "io.modelcontextprotocol/serverInfo": { name: "test", version: "0.0.0" } }
      })
      yield* peer.expectEnd
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive))))

  it.effect("is refused beyond the limit of a client, until one has ended", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const other = yield* leaving
      const [requestId] = yield* listen(peer, {})
      yield* listen(peer, {})
      const refused = yield* error(peer, "subscriptions/listen", { notifications: {} })
      assert.strictEqual(refused.code, -32603)
      assert.include(refused.message, "Too many of these requests are open")
      yield* listen(other, {})
      yield* peer.notify("notifications/cancelled", { requestId })
      yield* silence(peer)
      yield* listen(peer, {})
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { limits: { maxListensPerClient: 2 } }))))

  it.effect("is refused beyond the limits of all clients and of resources", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      const many = { resourceSubscriptions: ["file:///a", "file:///b"] }
      const refused = yield* error(peer, "subscriptions/listen", { notifications: many })
      assert.strictEqual(refused.code, -32602)
      yield* listen(peer, {})
      assert.strictEqual((yield* error(yield* leaving, "subscriptions/listen", { notifications: {} })).code, -32603)
    }).pipe(Effect.scoped, Effect.provide(serve(Readme, { limits: { maxListens: 1, maxSubscribedResources: 1 } }))))

  for (
    const [sent, params, options] of [
      ["a valid one", { notifications: {} }, {}],
      ["one without a filter", {}, {}],
      ["one of an unknown revision", { notifications: {} }, { version: "2099-01-01" }]
    ] as const
  ) {
    it.effect(`is refused beyond the limit before the middleware runs: ${sent}`, () => {
      let held = 0
      const middleware = Middleware.make(({ method }, next) =>
        method === "subscriptions/listen" ? Effect.zipRight(Effect.sync(() => held++), Effect.never) : next
      )
      return Effect.gen(function*() {
        const peer = yield* leaving
        const requestId = yield* request(peer, "subscriptions/listen", params, options)
        yield* request(peer, "subscriptions/listen", params, options)
        for (let n = 0; n < 50; n++) {
          const { code } = yield* error(peer, "subscriptions/listen", params, options)
          assert.deepStrictEqual([code, held], [-32603, 2])
        }
        yield* peer.notify("notifications/cancelled", { requestId })
        yield* silence(peer)
        yield* request(peer, "subscriptions/listen", params, options)
        yield* silence(peer)
        assert.strictEqual(held, 3)
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { limits: { maxListensPerClient: 2 }, middleware })))
    })
  }

  it.effect("frees its place at once when its client cancels it, however many have ended so", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      for (let n = 0; n < 100; n++) {
        const requestId = yield* request(peer, "subscriptions/listen", { notifications: {} })
        yield* peer.notify("notifications/cancelled", { requestId })
        yield* peer.expectNotification("notifications/subscriptions/acknowledged")
        yield* silence(peer)
      }
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { limits: { maxListens: 1 } }))))

  it.effect("takes no place from other requests", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      for (let n = 0; n < 10; n++) yield* listen(peer, {})
      yield* call(peer, "greet", { arguments: { name: "Ada" } })
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { limits: { maxInFlight: 1 } }))))

  it.effect("survives clients that come and go: none is left when all have ended", () =>
    Effect.gen(function*() {
      const peer = yield* leaving
      for (let n = 0; n < 200; n++) {
        const [requestId] = yield* listen(peer, { toolsListChanged: true })
        yield* peer.notify("notifications/cancelled", { requestId })
      }
      const scope = yield* Scope.make()
      const other = yield* Scope.extend(connect, scope)
      for (let n = 0; n < 50; n++) yield* listen(other, { toolsListChanged: true })
      yield* other.hangUp
      yield* Scope.close(scope, Exit.void)
      yield* listen(peer, { toolsListChanged: true })
      assert.isDefined(yield* caused(peer, "grow"))
      yield* result(peer, "tools/list")
    }).pipe(Effect.scoped, Effect.provide(serve(grow, { limits: { maxListens: 51 } }))))
})
