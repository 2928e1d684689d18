import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Registry } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer } from "effect"
import * as Subscriptions from "../../../src/server/legacy/Subscriptions.js"
import { act, connect, GreetLive, result, serve, uninitialized, until } from "../Serving.js"

const resource = (uri: string) => McpServer.resource(Resource.make(uri, { uri }), Effect.succeed(uri))

const id = ResourceTemplate.param("id")
const Notes = McpServer.resourceTemplate(ResourceTemplate.make("note")`note:///${id}`, () => Effect.succeed("a note"))

/** A tool that says that these are new, each as often as it stands there. */
const touching = (...uris: ReadonlyArray<string>) =>
  act(Effect.forEach(uris, (uri) => McpServer.resourceUpdated(uri)), "touch")

const two = Layer.merge(resource("file:///a"), resource("file:///b"))

const subscribe = (peer: TestPeer.TestPeer, uri: string) =>
  Effect.flatMap(peer.request("resources/subscribe", { uri }), peer.expectResult)
const unsubscribe = (peer: TestPeer.TestPeer, uri: string) =>
  Effect.flatMap(peer.request("resources/unsubscribe", { uri }), peer.expectResult)
const refusal = (peer: TestPeer.TestPeer, method: string, uri: string) =>
  Effect.flatMap(peer.request(method, { uri }), peer.expectError)

const expectUpdated = (peer: TestPeer.TestPeer, uri: string) =>
  Effect.map(
    peer.expectNotification("notifications/resources/updated"),
    (params) => assert.deepStrictEqual(params, { uri })
  )

/** Has the resources touched by a client that hears of none of it. */
const touch = Effect.scoped(Effect.flatMap(connect(), (peer) => result(peer, "touch")))

const serving = (features: Layer.Layer<never, never, Registry>, ...uris: ReadonlyArray<string>) =>
  serve(Layer.merge(features, touching(...uris)))

describe("A subscription", () => {
  for (const version of Version.legacy) {
    it.scoped(`notifies a client at ${version} of each update of a resource`, () =>
      Effect.gen(function*() {
        const peer = yield* connect(version)
        assert.deepStrictEqual(yield* subscribe(peer, "file:///a"), {})
        for (const _ of [1, 2]) {
          yield* touch
          yield* expectUpdated(peer, "file:///a")
        }
        yield* peer.expectSilence
      }).pipe(Effect.provide(serving(two, "file:///a", "file:///b"))))
  }

  it.scoped("is one, however often the client subscribes, and ends when it unsubscribes once", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* subscribe(peer, "file:///a"), {})
      yield* touch
      yield* expectUpdated(peer, "file:///a")
      yield* peer.expectSilence
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* unsubscribe(peer, "file:///a"), {})
      assert.deepStrictEqual(yield* unsubscribe(peer, "file:///never"), {})
      yield* touch
      yield* peer.expectSilence
    }).pipe(Effect.provide(serving(two, "file:///a"))))

  it.scoped("can be to a resource of a template", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* subscribe(peer, "note:///1")
      yield* touch
      yield* expectUpdated(peer, "note:///1")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serving(Notes, "note:///1", "note:///2"))))

  it.scoped("is refused above the limit of the client, and allowed after another has ended", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const other = yield* connect()
      yield* subscribe(peer, "note:///1")
      yield* subscribe(peer, "note:///2")
      const error = yield* refusal(peer, "resources/subscribe", "note:///3")
      assert.deepStrictEqual(error, { code: -32600, message: "Too many subscriptions: the limit is 2" })
      // One that there is already is none more.
      yield* subscribe(peer, "note:///2")
      yield* subscribe(other, "note:///3")
      yield* unsubscribe(peer, "note:///1")
      yield* subscribe(peer, "note:///3")
    }).pipe(Effect.provide(serve(Notes, { limits: { maxSubscribedResources: 2 } }))))

  it.scoped("is limited to 1,024 by default", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (let i = 0; i < 1024; i++) yield* subscribe(peer, `note:///${i}`)
      assert.strictEqual((yield* refusal(peer, "resources/subscribe", "note:///more")).code, -32600)
    }).pipe(Effect.provide(serve(Notes))))

  it.scoped("ends with its conversation", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const first = yield* connect()
      yield* subscribe(first, "file:///a")
      yield* first.hangUp
      yield* until(() => dispatcher.conversations() === 0)
      const again = yield* connect()
      yield* touch
      yield* again.expectSilence
    }).pipe(Effect.provide(serving(two, "file:///a"))))

  it.scoped("has no effect before the client is initialized", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const id = yield* peer.request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      })
      yield* peer.expectResult(id)
      yield* subscribe(peer, "file:///a")
      yield* touch
      yield* peer.expectSilence
      yield* peer.notify("notifications/initialized")
      yield* touch
      yield* expectUpdated(peer, "file:///a")
    }).pipe(Effect.provide(serving(two, "file:///a"))))

  // The notification that is being sent may have reached the client, so it stands for no later update.
  it.scoped("sends two notifications of many updates at most to a client that does not read, and waits for nothing", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const [mine, theirs] = yield* Transport.memory({ capacity: 2 })
      yield* Effect.forkScoped(dispatcher.accept(theirs))
      mine.unsafeSend(Message.request("hello", "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      }))
      mine.unsafeSend(Message.notification("notifications/initialized"))
      for (const uri of ["file:///a", "file:///b"]) {
        mine.unsafeSend(Message.request(uri, "resources/subscribe", { uri }))
      }
      yield* until(() => dispatcher.conversations() === 1)
      for (let i = 0; i < 10; i++) yield* touch
      const peer = yield* TestPeer.make(mine)
      yield* peer.expectResult("hello")
      for (const uri of ["file:///a", "file:///b"]) yield* peer.expectResult(uri)
      yield* expectUpdated(peer, "file:///a")
      yield* expectUpdated(peer, "file:///b")
      yield* expectUpdated(peer, "file:///a")
      yield* peer.expectSilence
      yield* touch
      yield* expectUpdated(peer, "file:///a")
      yield* expectUpdated(peer, "file:///b")
    }).pipe(Effect.provide(serving(two, "file:///a", "file:///b"))))
})

describe("A server without subscriptions", () => {
  it.scoped("does not advertise them, and answers -32601", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const { capabilities } = yield* peer.initialize()
      assert.deepStrictEqual((capabilities as { resources: object }).resources, { listChanged: true })
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual((yield* refusal(peer, method, "file:///a")).code, -32601)
      }
      yield* touch
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(Layer.merge(two, touching("file:///a")), { subscriptions: false }))))

  it.scoped("is also one without resources", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const { capabilities } = yield* peer.initialize()
      assert.notProperty(capabilities, "resources")
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual((yield* refusal(peer, method, "file:///a")).code, -32601)
      }
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("A resource that was added after the handshake", () => {
  it.scoped("can be subscribed to, and its updates are sent", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "go")
      yield* peer.expectNotification("notifications/resources/list_changed")
      yield* subscribe(peer, "file:///late")
      yield* result(peer, "touch")
      yield* expectUpdated(peer, "file:///late")
    }).pipe(Effect.provide(serve(
      Layer.unwrapScoped(Effect.gen(function*() {
        const scope = yield* Effect.scope
        const late = McpServer.resource(Resource.make("late", { uri: "file:///late" }), Effect.succeed(""))
        return Layer.merge(
          act(
            Effect.flatMap(
              Registry,
              (registry) => Effect.provideService(Layer.buildWithScope(late, scope), Registry, registry)
            ),
            "go"
          ),
          act(McpServer.resourceUpdated("file:///late"), "touch")
        )
      })),
      { capabilities: { resources: { subscribe: true, listChanged: true } } }
    ))))
})

describe("A feature", () => {
  it.scoped("can report an update at any time, from a fiber of its own", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* subscribe(peer, "file:///a")
      yield* result(peer, "go")
      yield* expectUpdated(peer, "file:///a")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(Layer.mergeAll(
      two,
      Layer.unwrapScoped(Effect.gen(function*() {
        let go = false
        return Layer.merge(
          Layer.scopedDiscard(Effect.forkScoped(
            Effect.zipRight(until(() => go), McpServer.resourceUpdated("file:///a"))
          )),
          act(Effect.sync(() => go = true), "go")
        )
      }))
    )))))
})

describe("a change of all resources", () => {
  it.effect("names a resource once whose subscription is there already while the session is restored", () =>
    Effect.gen(function*() {
      const uris: Array<string> = []
      const connection = {
        subscriptions: new Map([["file:///a", { uri: "file:///a", end: Effect.void, begun: undefined }]]),
        unrestored: ["file:///a", "file:///b"],
        announce: (_: unknown, { uri }: { readonly uri: string }) => Effect.sync(() => uris.push(uri))
      }
      yield* Subscriptions.allUpdated(connection as never)
      assert.deepStrictEqual(uris, ["file:///a", "file:///b"])
    }))
})
