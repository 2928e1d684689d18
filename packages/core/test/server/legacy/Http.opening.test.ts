import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { answered, initialize, withEndpoint } from "../http/TestExchange.js"
import { GreetLive, serve } from "../Serving.js"

/** A server whose session layer waits for the gate. */
const gated = Effect.map(Deferred.make<void, string>(), (gate) => ({
  gate,
  server: serve(GreetLive, { session: Layer.effectDiscard(Deferred.await(gate)) })
}))

const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }

describe("The option `sessionIdPrefix`", () => {
  it.effect("is what the id of a session begins with, and the rest cannot be guessed", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const ids = yield* Effect.replicateEffect(http.open(), 2)
        assert.notDeepEqual(ids[0]!.session, ids[1]!.session)
        for (const client of ids) assert.match(client.session["mcp-session-id"]!, /^node-1\.[0-9a-f]{32}$/)
        assert.deepInclude((yield* ids[0]!.ask({ jsonrpc: "2.0", id: 1, method: "ping" })).json, { result: {} })
      }), { legacy: { sessionIdPrefix: "node-1." } }))

  for (const idPrefix of ["a b", "a/b", "a?", "ä", "a\n", "x".repeat(65)]) {
    it.effect(`keeps an endpoint from starting that has ${JSON.stringify(idPrefix)}, with the reason`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(
          withEndpoint(serve(GreetLive), () => Effect.void, { legacy: { sessionIdPrefix: idPrefix } })
        )
        assert.include(String(exit), "legacy.sessionIdPrefix may have at most 64 letters")
      }))
  }
})

describe("an initialize that is slow", () => {
  it.effect("is answered when the session layer is built", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          yield* TestClock.adjust("1 seconds")
          assert.isUndefined(exchange.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.strictEqual(exchange.sent["content-type"], "application/json")
          assert.match(exchange.sent["mcp-session-id"]!, /.+/)
        }))
    }))

  it.effect("has the session id in the headers of its stream", () =>
    Effect.gen(function*() {
      for (const responses of ["auto", "stream"] as const) {
        const { gate, server } = yield* gated
        yield* withEndpoint(server, (http) =>
          Effect.gen(function*() {
            const exchange = http.post(initialize())
            yield* TestClock.adjust("16 seconds")
            assert.isTrue(exchange.isStream)
            const session = { "mcp-session-id": exchange.sent["mcp-session-id"] }
            assert.match(session["mcp-session-id"]!, /.+/)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(exchange)
            assert.property(exchange.messages[0], "result")
            assert.strictEqual(http.post(initialized, session).status, 202)
          }), { responses })
      }
    }))

  it.effect("leaves no session when it fails, also after the headers were sent", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          yield* TestClock.adjust("16 seconds")
          const session = { "mcp-session-id": exchange.sent["mcp-session-id"] }
          yield* Deferred.fail(gate, "no")
          yield* answered(exchange)
          assert.property(exchange.messages[0], "error")
          assert.strictEqual(http.post(initialized, session).status, 404)
          assert.strictEqual(http.endpoint.sessions(), 0)
        }))
    }))

  it.effect("leaves no session when its client has disconnected", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          exchange.hangUp()
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.strictEqual(http.endpoint.sessions(), 0)
        }))
    }))

  it.effect("is answered when the server closes first", () =>
    Effect.gen(function*() {
      const { server } = yield* gated
      yield* withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          const early = http.post(initialize())
          yield* http.endpoint.close
          yield* answered(exchange)
          yield* answered(early)
          assert.strictEqual(exchange.json.error.code, -32000)
          assert.notProperty(exchange.sent, "mcp-session-id")
        }))
    }))
})
