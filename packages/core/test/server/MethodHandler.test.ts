import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import { ResourceNotFound } from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer, Schema } from "effect"
import * as Modern from "./modern/Modern.js"
import { connect, GreetLive, logbook, names, serve, unchecked, uninitialized } from "./Serving.js"

const ask = (peer: TestPeer.TestPeer, method: string, params?: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectResult)
const refusal = (peer: TestPeer.TestPeer, method: string, params?: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectError)

const declared = (features: Layer.Layer<never, never, Registry>, options?: McpServer.Options) =>
  Effect.scoped(
    Effect.flatMap(uninitialized, (peer) => Effect.map(peer.initialize(), ({ capabilities }) => capabilities))
  )
    .pipe(Effect.provide(serve(features, options)))

describe("A method of the specification", () => {
  const Fetched = MethodHandler.request(Methods.listTools, ({ cursor }) =>
    Effect.succeed({
      tools: [{
        name: `tool after ${cursor}`,
        title: "T",
        inputSchema: { type: "object" as const },
        icons: [{ src: "https://example.com/a" }]
      }]
    }))

  it.scoped("is handled in place of the server, with decoded parameters", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* names(peer), ["tool after undefined"])
      const first = yield* ask(peer, "tools/list", { cursor: "" })
      assert.strictEqual((first.tools as ReadonlyArray<any>)[0].name, "tool after undefined")
      const modern = yield* Modern.result(yield* Modern.connect, "tools/list", { cursor: "" })
      assert.strictEqual((modern.tools as ReadonlyArray<any>)[0].name, "tool after undefined")
      const { tools } = yield* ask(peer, "tools/list", { cursor: "x" })
      assert.deepInclude(tools, {
        name: "tool after x",
        title: "T",
        inputSchema: { type: "object" },
        icons: [{ src: "https://example.com/a" }]
      })
      const error = yield* refusal(yield* unchecked(), "tools/list", { cursor: 1 })
      assert.deepStrictEqual([error.code, error.message.startsWith("Invalid params: cursor: ")], [-32602, true])
      // The rest of the feature is the server's still.
      assert.deepStrictEqual((yield* ask(peer, "tools/call", { name: "greet", arguments: { name: "Ada" } })).content, [
        { type: "text", text: "Hello, Ada!" }
      ])
    }).pipe(Effect.provide(serve(Layer.merge(GreetLive, Fetched)))))

  it.scoped("has a result with only what the client's revision knows", () =>
    Effect.gen(function*() {
      const { tools } = yield* ask(yield* connect("2024-11-05"), "tools/list")
      assert.deepStrictEqual(tools, [{ name: "tool after undefined", inputSchema: { type: "object" } }])
    }).pipe(Effect.provide(serve(Fetched))))

  it.effect("is answered with \"Internal error\" when its handler returns a value of another type", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* refusal(yield* connect(), "tools/list"), {
          code: -32603,
          message: "Internal error"
        })
        assert.include(String(lines[0]?.cause), `"tools/list" returned a value that is not a result of the method`)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(
          serve(MethodHandler.request(Methods.listTools, () => Effect.succeed({ tools: [{ name: 1 }] } as never))),
          layer
        ))
      )
    }))

  it.effect("advertises the capability that it needs", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* declared(Fetched, { logging: false }), { tools: {} })
      assert.deepStrictEqual(
        yield* declared(MethodHandler.request(Methods.subscribe, () => Effect.succeed({})), { logging: false }),
        { resources: { subscribe: true } }
      )
    }))

  it.scoped("may be one that the server itself handles: subscriptions, the log level", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const taking = Layer.mergeAll(
        MethodHandler.request(
          Methods.subscribe,
          ({ uri }) =>
            uri === "file:///none" ? new ResourceNotFound({ uri }) : Effect.sync(() => {
              seen.push(uri)
              return {}
            })
        ),
        MethodHandler.request(Methods.setLevel, ({ level }) =>
          Effect.sync(() => {
            seen.push(level)
            return {}
          })),
        McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed(""))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* ask(peer, "resources/subscribe", { uri: "file:///elsewhere" })
        assert.strictEqual((yield* refusal(peer, "resources/subscribe", { uri: "file:///none" })).code, -32002)
        yield* ask(peer, "logging/setLevel", { level: "error" })
        assert.deepStrictEqual(seen, ["file:///elsewhere", "error"])
      }).pipe(Effect.provide(serve(taking)))
    }))

  it.scoped("MUST go on answering pings before initialize, also where the application handles them", () =>
    Effect.gen(function*() {
      let pings = 0
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        assert.deepStrictEqual(yield* ask(peer, "ping"), {})
        yield* peer.initialize()
        assert.deepStrictEqual(yield* ask(peer, "ping"), {})
        assert.strictEqual(pings, 2)
      }).pipe(Effect.provide(serve(MethodHandler.request(Methods.ping, () =>
        Effect.sync(() => {
          pings++
          return {}
        })))))
    }))

  it.effect("has one handler: a layer with a second one dies, and names the method", () =>
    Effect.gen(function*() {
      const twice: ReadonlyArray<readonly [Layer.Layer<never, never, Registry>, string]> = [
        [
          Layer.merge(Fetched, MethodHandler.request(Methods.listTools, () => Effect.succeed({ tools: [] }))),
          "tools/list"
        ],
        [
          Layer.merge(
            MethodHandler.rootsListChanged(Effect.void),
            MethodHandler.rootsListChanged(Effect.asVoid(Effect.yieldNow()))
          ),
          "notifications/roots/list_changed"
        ],
        [
          Layer.merge(
            MethodHandler.fallback(() => Effect.succeed({})),
            MethodHandler.fallback(() => Effect.succeed({ a: 1 }))
          ),
          "*"
        ]
      ]
      for (const [features, name] of twice) {
        const cause = yield* Effect.flip(Effect.sandbox(Effect.scoped(Layer.build(serve(features)))))
        assert.include(String(cause), `Two features of this server are handlers of "${name}"`)
      }
    }))

  it.effect("cannot be initialize", () =>
    Effect.gen(function*() {
      const taking = [
        MethodHandler.request(Methods.initialize, () => Effect.never),
        MethodHandler.customRequest(
          "initialize",
          { params: Schema.Struct({}), result: Schema.Struct({}) },
          Effect.succeed
        )
      ]
      for (const feature of taking) {
        const cause = yield* Effect.flip(Effect.sandbox(Effect.scoped(Layer.build(serve(feature)))))
        assert.include(String(cause), `"initialize" is handled by the server itself`)
      }
    }))

  it.scoped("is handled as a notification with decoded parameters", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const live = Layer.merge(
        MethodHandler.notification(Methods.cancelled, ({ reason, requestId }) =>
          Effect.sync(() => heard.push([requestId, reason]))),
        MethodHandler.notification(Methods.initialized, () =>
          Effect.sync(() => heard.push("initialized")))
      )
      yield* Effect.gen(function*() {
        const peer = yield* unchecked()
        yield* peer.notify("notifications/cancelled", { requestId: 7, reason: "enough" })
        yield* peer.notify("notifications/cancelled", { requestId: {} })
        yield* peer.expectSilence
        assert.deepStrictEqual(heard, ["initialized", [7, "enough"]])
      }).pipe(Effect.provide(serve(live)))
    }))
})

describe("A change of the client's roots", () => {
  it.scoped("runs a handler, which may list the roots outside of a request", () =>
    Effect.gen(function*() {
      const seen = yield* Deferred.make<unknown>()
      const live = MethodHandler.rootsListChanged(Effect.gen(function*() {
        const session = yield* ServerSession
        yield* Deferred.succeed(seen, yield* Effect.orDie(session.listRoots))
        yield* session.notify("notifications/example/seen")
      }))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: { listChanged: true } })
        yield* peer.notify("notifications/roots/list_changed")
        const { id } = yield* peer.expectRequest("roots/list")
        // It has no response to wait for.
        yield* peer.expectSilence
        yield* peer.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: "file:///a" }] } })
        assert.deepStrictEqual(yield* Deferred.await(seen), [{ uri: "file:///a" }])
        yield* peer.expectNotification("notifications/example/seen")
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("interrupts its handler when the conversation ends", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const live = MethodHandler.rootsListChanged(Effect.flatMap(ServerSession, (session) =>
        Effect.onInterrupt(Effect.orDie(Effect.asVoid(session.listRoots)), () =>
          Deferred.succeed(stopped, undefined))))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {} })
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectRequest("roots/list")
        yield* peer.hangUp
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(serve(live)))
    }))
})
