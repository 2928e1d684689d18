import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { answered, initialize, visiting } from "../http/Visit.js"
import { GreetLive, serve } from "../Serving.js"

/** A server whose sessions begin when the gate opens. */
const gated = Effect.map(Deferred.make<void, string>(), (gate) => ({
  gate,
  server: serve(GreetLive, { session: Layer.effectDiscard(Deferred.await(gate)) })
}))

const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }

describe("an initialize that is slow", () => {
  it.effect("is answered when the session has begun", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* visiting(server, (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(initialize())
          yield* TestClock.adjust("1 seconds")
          assert.isUndefined(visit.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.strictEqual(visit.sent["content-type"], "application/json")
          assert.match(visit.sent["mcp-session-id"]!, /.+/)
        }))
    }))

  it.effect("names the session at the head of its stream, where it is answered with one", () =>
    Effect.gen(function*() {
      for (const responses of ["auto", "stream"] as const) {
        const { gate, server } = yield* gated
        yield* visiting(server, (visitor) =>
          Effect.gen(function*() {
            const visit = visitor.post(initialize())
            yield* TestClock.adjust("16 seconds")
            assert.isTrue(visit.isStream)
            const session = { "mcp-session-id": visit.sent["mcp-session-id"] }
            assert.match(session["mcp-session-id"]!, /.+/)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(visit)
            assert.property(visit.messages[0], "result")
            assert.strictEqual(visitor.post(initialized, session).status, 202)
          }), { responses })
      }
    }))

  it.effect("leaves no session behind when it fails, whatever was promised", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* visiting(server, (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(initialize())
          yield* TestClock.adjust("16 seconds")
          const session = { "mcp-session-id": visit.sent["mcp-session-id"] }
          yield* Deferred.fail(gate, "no")
          yield* answered(visit)
          assert.property(visit.messages[0], "error")
          assert.strictEqual(visitor.post(initialized, session).status, 404)
          assert.strictEqual(visitor.endpoint.sessions(), 0)
        }))
    }))

  it.effect("leaves no session behind when its client has gone", () =>
    Effect.gen(function*() {
      const { gate, server } = yield* gated
      yield* visiting(server, (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(initialize())
          visit.hangUp()
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.strictEqual(visitor.endpoint.sessions(), 0)
        }))
    }))

  it.effect("is answered when the server closes first", () =>
    Effect.gen(function*() {
      const { server } = yield* gated
      yield* visiting(server, (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(initialize())
          const early = visitor.post(initialize())
          yield* visitor.endpoint.close
          yield* answered(visit)
          yield* answered(early)
          assert.strictEqual(visit.json.error.code, -32000)
          assert.notProperty(visit.sent, "mcp-session-id")
        }))
    }))
})
