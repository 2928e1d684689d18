import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { answered, call, initialize, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")
const greet = (id: number) => call(id, "greet", { name: String(id) })

const stateless: HttpOptions = { legacy: { sessions: false } }

describe("an endpoint without sessions:", () => {
  it.effect("every request is served on its own", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const first = yield* http.ask(initialize("2025-06-18"))
        assert.strictEqual(first.json.result.protocolVersion, "2025-06-18")
        assert.notProperty(first.sent, "mcp-session-id")
        const exchange = yield* http.ask(greet(1))
        assert.strictEqual(exchange.json.result.content[0].text, "Hello, 1!")
        // The id of a session is ignored.
        assert.strictEqual((yield* http.ask(ping, { "mcp-session-id": "any" })).status, 200)
        assert.strictEqual(http.endpoint.sessions(), 0)
      }), stateless))

  it.effect("GET and DELETE are refused", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        for (const exchange of [http.get(), http.delete()]) {
          assert.strictEqual(exchange.status, 405)
          assert.strictEqual(exchange.sent.allow, "POST, OPTIONS")
        }
      }), stateless))

  it.effect("the header names the revision, and 2025-03-26 is assumed without one", () => {
    const seen: Array<string> = []
    const look = act(Effect.map(RequestContext.RequestContext, ({ version }) => seen.push(version)))
    return withEndpoint(serve(look, { versions: Version.legacy }), (http) =>
      Effect.gen(function*() {
        yield* http.ask(call(1, "act"))
        yield* http.ask(call(1, "act"), { "mcp-protocol-version": "2025-11-25" })
        assert.deepStrictEqual(seen, ["2025-03-26", "2025-11-25"])
        const exchange = http.post(ping, { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(exchange.status, 400)
        assert.match(exchange.json.error.message, /Unsupported protocol version: 2026-07-28/)
      }), stateless)
  })

  it.effect("a message without a response is accepted and dropped, also the cancellation of another client's request", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate))), (http) =>
        Effect.gen(function*() {
          const exchange = http.post(call(1, "act"))
          for (
            const message of [Message.notification("notifications/cancelled", { requestId: 1 }), Message.success(1, {})]
          ) {
            assert.strictEqual(http.post(message).status, 202)
          }
          yield* Effect.yieldNow()
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.property(exchange.json, "result")
        }), stateless)
    }))

  it.effect("MUST declare `logging` to send logs: it cannot keep a log level, so it does neither", () =>
    withEndpoint(
      serve(act(Effect.flatMap(ServerSession, (session) => session.log("error", "hello")))),
      (http) =>
        Effect.gen(function*() {
          for (const version of ["2024-11-05", "2025-11-25"]) {
            const { json } = yield* http.ask(initialize(version))
            assert.notProperty(json.result.capabilities, "logging")
          }
          const refused = yield* http.ask(Message.request(1, "logging/setLevel", { level: "debug" }))
          assert.strictEqual(refused.json.error.code, -32601)
          const called = yield* http.ask(call(1, "act"))
          assert.isFalse(called.isStream)
          assert.property(called.json, "result")
        }),
      stateless
    ))

  it.effect("promises no notifications outside of requests: neither `listChanged` nor `subscribe`", () => {
    const features = Layer.mergeAll(
      GreetLive,
      McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A")),
      McpServer.prompt(Prompt.make("p"), () => Effect.succeed("p"))
    )
    return withEndpoint(serve(features), (http) =>
      Effect.gen(function*() {
        const { json } = yield* http.ask(initialize())
        assert.deepStrictEqual(json.result.capabilities, { tools: {}, resources: {}, prompts: {} })
      }), stateless)
  })

  it.effect("batches are served at 2025-03-26 only", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const exchange = yield* http.ask([greet(1), Message.notification("notifications/x"), greet(2), { id: 3 }])
        assert.deepStrictEqual(exchange.json.map(({ id }: any) => id).sort(), [1, 2, 3])
        assert.strictEqual(http.post([Message.notification("notifications/x")]).status, 202)
        assert.strictEqual(http.post([ping, initialize()]).status, 400)
        assert.strictEqual(http.post([ping], { "mcp-protocol-version": "2025-06-18" }).status, 400)
        assert.strictEqual(http.post({ id: 4 }).json.error.code, -32600)
      }), stateless))

  it.effect("a handler whose client has disconnected does not affect another of the same id", () =>
    Effect.gen(function*() {
      let running = 0
      const handler = Effect.onInterrupt(
        Effect.zipRight(Effect.sync(() => running++), Effect.never),
        () => Effect.sync(() => running--)
      )
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const [gone, staying] = [http.post(call(1, "act")), http.post(call(1, "act"))]
          yield* until(() => running === 2)
          gone.hangUp()
          yield* TestClock.adjust("31 seconds")
          yield* until(() => running === 1)
          assert.isFalse(staying.cut)
          assert.strictEqual(running, 1)
        }), stateless)
    }))
})
