import { assert, describe, it } from "@effect/vitest"
import * as Resource from "@effect-mcp/definition/Resource"
import * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Version from "@effect-mcp/protocol/Version"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as McpServer from "@effect-mcp/server/McpServer"
import { Registry } from "@effect-mcp/server/Registry"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer } from "effect"
import { act, connect, GreetLive, result, serve, stranger, until } from "../Serving.js"

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
    it.scoped(`makes a client at ${version} hear that a resource is new, each time`, () =>
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

  it.scoped("ends when the client says so", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* subscribe(peer, "file:///a")
      yield* subscribe(peer, "file:///b")
      assert.deepStrictEqual(yield* unsubscribe(peer, "file:///a"), {})
      yield* touch
      yield* expectUpdated(peer, "file:///b")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serving(two, "file:///a", "file:///b"))))

  it.scoped("is one, however often the client subscribes; and gone when it unsubscribes once, or again", () =>
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

  it.scoped("is of one client: another hears nothing of it", () =>
    Effect.gen(function*() {
      const subscriber = yield* connect()
      const other = yield* connect()
      yield* subscribe(subscriber, "file:///a")
      yield* subscribe(other, "file:///b")
      yield* unsubscribe(other, "file:///a")
      yield* touch
      yield* expectUpdated(subscriber, "file:///a")
      yield* other.expectSilence
    }).pipe(Effect.provide(serving(two, "file:///a"))))

  it.scoped("may be to a resource of a template", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* subscribe(peer, "note:///1")
      yield* touch
      yield* expectUpdated(peer, "note:///1")
      yield* peer.expectSilence
    }).pipe(Effect.provide(serving(Notes, "note:///1", "note:///2"))))

  it.scoped("is refused for what is not there", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* refusal(peer, "resources/subscribe", "file:///c"), {
        code: -32002,
        message: "Resource not found: file:///c",
        data: { uri: "file:///c" }
      })
      yield* touch
      yield* peer.expectSilence
    }).pipe(Effect.provide(serving(two, "file:///c"))))

  it.scoped("is refused when a client has too many, and allowed when one has ended", () =>
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
    }).pipe(Effect.provide(serve(Notes, { maxSubscriptions: 2 }))))

  it.scoped("is one of a thousand and twenty-four at most, where the server says nothing else", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (let i = 0; i < 1024; i++) yield* subscribe(peer, `note:///${i}`)
      assert.strictEqual((yield* refusal(peer, "resources/subscribe", "note:///more")).code, -32600)
    }).pipe(Effect.provide(serve(Notes))))

  it.scoped("is gone with its conversation", () =>
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

  it.scoped("is not for a client that has not said that it is ready", () =>
    Effect.gen(function*() {
      const peer = yield* stranger
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

  it.scoped("says once what happens often to a client that does not read, and holds nobody up", () =>
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
      yield* peer.expectSilence
      yield* touch
      yield* expectUpdated(peer, "file:///a")
      yield* expectUpdated(peer, "file:///b")
    }).pipe(Effect.provide(serving(two, "file:///a", "file:///b"))))
})

describe("A server without subscriptions", () => {
  it.scoped("says so, and knows no such method", () =>
    Effect.gen(function*() {
      const peer = yield* stranger
      const { capabilities } = yield* peer.initialize()
      assert.deepStrictEqual((capabilities as { resources: object }).resources, { listChanged: true })
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual((yield* refusal(peer, method, "file:///a")).code, -32601)
      }
      yield* touch
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(Layer.merge(two, touching("file:///a")), { subscriptions: false }))))

  it.scoped("is one without resources, too", () =>
    Effect.gen(function*() {
      const peer = yield* stranger
      const { capabilities } = yield* peer.initialize()
      assert.notProperty(capabilities, "resources")
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual((yield* refusal(peer, method, "file:///a")).code, -32601)
      }
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("A resource that came after the handshake", () => {
  it.scoped("can be subscribed to, and is told of", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "go")
      yield* subscribe(peer, "file:///late")
      yield* result(peer, "touch")
      yield* expectUpdated(peer, "file:///late")
    }).pipe(Effect.provide(serve(Layer.unwrapScoped(Effect.gen(function*() {
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
    }))))))
})

describe("A feature", () => {
  it.scoped("may say that a resource is new at any time, from a fiber of its own", () =>
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
