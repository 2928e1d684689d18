import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { HttpOptions } from "@effect-mcp/server/HttpOptions"
import * as RequestContext from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import { Deferred, Effect, Exit, TestClock } from "effect"
import type { Visit } from "../http/Visit.js"
import { answered, call, initialize, visiting } from "../http/Visit.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")
const greet = (id: number) => call(id, "greet", { name: String(id) })

const stateless: HttpOptions = { sessions: false }

describe("without sessions", () => {
  it.effect("every request is served on its own", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const first = yield* visitor.ask(initialize("2025-06-18"))
        assert.strictEqual(first.json.result.protocolVersion, "2025-06-18")
        assert.notProperty(first.sent, "mcp-session-id")
        const visit = yield* visitor.ask(greet(1))
        assert.strictEqual(visit.json.result.content[0].text, "Hello, 1!")
        // The id of a session is ignored.
        assert.strictEqual((yield* visitor.ask(ping, { "mcp-session-id": "any" })).status, 200)
        assert.strictEqual(visitor.endpoint.sessions(), 0)
      }), stateless))

  it.effect("there is neither GET nor DELETE", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        for (const visit of [visitor.get(), visitor.delete()]) {
          assert.strictEqual(visit.status, 405)
          assert.strictEqual(visit.sent.allow, "POST, OPTIONS")
        }
      }), stateless))

  it.effect("the header names the revision, and 2025-03-26 is assumed without one", () => {
    const seen: Array<string> = []
    const look = act(Effect.map(RequestContext.RequestContext, ({ version }) => seen.push(version)))
    return visiting(serve(look), (visitor) =>
      Effect.gen(function*() {
        yield* visitor.ask(call(1, "act"))
        yield* visitor.ask(call(1, "act"), { "mcp-protocol-version": "2025-11-25" })
        assert.deepStrictEqual(seen, ["2025-03-26", "2025-11-25"])
        const visit = visitor.post(ping, { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(visit.status, 400)
        assert.match(visit.json.error.message, /Unsupported protocol version: 2026-07-28/)
      }), stateless)
  })

  it.effect("a message without a response is accepted and dropped, also the cancellation of another client's request", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* visiting(serve(act(Deferred.await(gate))), (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(call(1, "act"))
          for (
            const message of [Message.notification("notifications/cancelled", { requestId: 1 }), Message.success(1, {})]
          ) {
            assert.strictEqual(visitor.post(message).status, 202)
          }
          yield* Effect.yieldNow()
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.property(visit.json, "result")
        }), stateless)
    }))

  it.effect("a handler cannot send requests to the client, but notifications", () => {
    let asked: Exit.Exit<unknown, unknown> | undefined
    const handler = Effect.flatMap(ServerSession, (session) =>
      session.log("info", "hello").pipe(
        Effect.zipRight(Effect.exit(session.request("roots/list"))),
        Effect.map((exit) => asked = exit)
      ))
    return visiting(serve(act(handler)), (visitor) =>
      Effect.gen(function*() {
        const visit = yield* visitor.ask(call(1, "act"))
        assert.isTrue(visit.isStream)
        assert.deepStrictEqual(visit.messages.map(({ id, method }) => id ?? method), ["notifications/message", 1])
        assert.isTrue(asked !== undefined && Exit.isFailure(asked))
        assert.include(String(asked), "NoBackChannel")
      }), stateless)
  })

  it.effect("batches are those of 2025-03-26", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const visit = yield* visitor.ask([greet(1), Message.notification("notifications/x"), greet(2), { id: 3 }])
        assert.deepStrictEqual(visit.json.map(({ id }: any) => id).sort(), [1, 2, 3])
        assert.strictEqual(visitor.post([Message.notification("notifications/x")]).status, 202)
        assert.strictEqual(visitor.post([ping, initialize()]).status, 400)
        assert.strictEqual(visitor.post([ping], { "mcp-protocol-version": "2025-06-18" }).status, 400)
        assert.strictEqual(visitor.post({ id: 4 }).json.error.code, -32600)
      }), stateless))

  it.effect("a handler outlives its client, but not for ever", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      let running = true
      const handler = Effect.onInterrupt(Effect.never, () => {
        running = false
        return Deferred.succeed(stopped, undefined)
      })
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const gone = visitor.post([call(1, "act")])
          gone.hangUp()
          yield* TestClock.adjust("29 seconds")
          assert.isTrue(running)
          yield* TestClock.adjust("1 seconds")
          yield* Deferred.await(stopped)
          assert.strictEqual((yield* visitor.ask(ping)).status, 200)
        }), stateless)
    }))

  it.effect("a handler whose client has disconnected is not confused with another of the same id", () =>
    Effect.gen(function*() {
      let running = 0
      const handler = Effect.onInterrupt(
        Effect.zipRight(Effect.sync(() => running++), Effect.never),
        () => Effect.sync(() => running--)
      )
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const [gone, staying] = [visitor.post(call(1, "act")), visitor.post(call(1, "act"))]
          yield* until(() => running === 2)
          gone.hangUp()
          yield* TestClock.adjust("31 seconds")
          yield* until(() => running === 1)
          assert.isFalse(staying.cut)
          assert.strictEqual(running, 1)
        }), stateless)
    }))

  it.effect("closing answers what is in flight, and stops it", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      let visit!: Visit
      const handler = Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          visit = visitor.post(call(1, "act"))
          yield* visitor.endpoint.close
          yield* Deferred.await(stopped)
        }), stateless)
      assert.deepStrictEqual(visit.json.error, { code: -32000, message: "Connection closed" })
      assert.strictEqual(visit.answers, 1)
    }))
})
