import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Layer, Schema } from "effect"
import { act, call, connect, GreetLive, logbook, names, serve, uninitialized } from "./Serving.js"

const refused = new InvalidRequest({ message: "not you" })

const refusing = (...methods: ReadonlyArray<string>) =>
  Middleware.make((call, next) => methods.includes(call.method) ? Effect.fail(refused) : next)

const refusal = (peer: TestPeer, method: string, params?: object) =>
  Effect.flatMap(peer.request(method, params as never), peer.expectError)

describe("Middleware that refuses", () => {
  it.scoped("can refuse, and nothing inside runs", () =>
    Effect.gen(function*() {
      let ran = 0
      const touch = act(Effect.sync(() => ran++))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const method of ["tools/call", "tools/fetch", "ping"]) {
          assert.deepStrictEqual(yield* refusal(peer, method, { name: "act" }), { code: -32600, message: "not you" })
        }
        assert.deepStrictEqual(yield* names(peer), ["act"])
        assert.strictEqual(ran, 0)
      }).pipe(Effect.provide(serve(touch, { middleware: refusing("tools/call", "tools/fetch", "ping") })))
    }))

  it.scoped("can refuse, and composed middleware inside of it does not even see the message", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const inner = Middleware.make((call, next) => {
        seen.push(call.method)
        return next
      })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* refusal(peer, "tools/unknown")
        seen.length = 0
        assert.deepStrictEqual(yield* refusal(peer, "tools/fetch"), { code: -32600, message: "not you" })
        assert.deepStrictEqual(seen, [])
        yield* refusal(peer, "tools/unknown")
        assert.deepStrictEqual(seen, ["tools/unknown"])
      }).pipe(Effect.provide(serve(GreetLive, { middleware: Middleware.compose(refusing("tools/fetch"), inner) })))
    }))

  it.scoped("can refuse the handshake, which the client may try again", () =>
    Effect.gen(function*() {
      let strict = true
      const middleware = Middleware.make((call, next) =>
        call.method === "initialize" && strict ? Effect.fail(refused) : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "0" } }
        assert.deepStrictEqual(yield* refusal(peer, "initialize", hello), { code: -32600, message: "not you" })
        assert.strictEqual((yield* refusal(peer, "tools/list")).code, -32602)
        strict = false
        yield* peer.initialize()
        assert.deepStrictEqual(yield* names(peer), ["greet"])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.scoped("can refuse the handshake after it was served: then the client is not initialized", () =>
    Effect.gen(function*() {
      let strict = true
      const middleware = Middleware.make((call, next) =>
        call.method === "initialize" && strict ? Effect.zipRight(next, Effect.fail(refused)) : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "0" } }
        assert.deepStrictEqual(yield* refusal(peer, "initialize", hello), { code: -32600, message: "not you" })
        assert.strictEqual((yield* refusal(peer, "tools/list")).code, -32602)
        strict = false
        yield* peer.initialize()
        assert.deepStrictEqual(yield* names(peer), ["greet"])
      }).pipe(Effect.provide(serve(GreetLive, { middleware })))
    }))

  it.effect("can refuse a notification, which has no answer", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      let heard = 0
      const features = MethodHandler.rootsListChanged(Effect.sync(() => {
        heard++
      }))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectSilence
        assert.strictEqual(heard, 0)
        assert.deepStrictEqual(lines.filter(({ level }) => level === "Error"), [])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(
          serve(features, { middleware: refusing("notifications/roots/list_changed") }),
          layer
        ))
      )
    }))

  it.scoped("can refuse a call before its arguments are decoded", () =>
    Effect.gen(function*() {
      let looked = 0
      const Looking = Schema.String.pipe(Schema.filter(() => {
        looked++
        return true
      }))
      const live = McpServer.tool(Tool.make("look", { parameters: { at: Looking } }), () => Effect.void)
      const middleware = Middleware.make((call, next) =>
        call.method === "tools/call" ? Effect.fail(new InvalidRequest({ message: "not you" })) : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.strictEqual((yield* peer.expectError(yield* call(peer, "look", { at: "it" }))).code, -32600)
        assert.strictEqual(looked, 0)
      }).pipe(Effect.provide(serve(live, { middleware })))
    }))
})
