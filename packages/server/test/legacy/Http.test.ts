import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as RequestContext from "@effect-mcp/server/RequestContext"
import { Deferred, Effect, TestClock } from "effect"
import { answered, call, initialize, visiting, Visitor } from "../http/Visit.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")
const text = (text: string) => ({ content: [{ type: "text", text }] })

describe("a session", () => {
  it.effect("is given out by initialize, and needed afterwards", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const first = yield* visitor.ask(initialize())
        assert.strictEqual(first.status, 200)
        assert.strictEqual(first.sent["content-type"], "application/json")
        assert.strictEqual(first.json.result.protocolVersion, "2025-11-25")
        assert.match(first.sent["mcp-session-id"]!, /^[\x21-\x7e]{32,}$/)
        const client = yield* visitor.open()
        const visit = yield* client.ask(call(1, "greet", { name: "you" }))
        assert.deepStrictEqual(visit.json, { jsonrpc: "2.0", id: 1, result: text("Hello, you!") })
        assert.notProperty(visit.sent, "mcp-session-id")
        for (const one of [visitor.post(ping), visitor.get(), visitor.delete()]) {
          assert.strictEqual(one.status, 400)
          assert.match(one.json.error.message, /Mcp-Session-Id header is missing/)
        }
      })))

  it.effect("is unknown when it never was", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        const client = new Visitor(visitor.endpoint, { "mcp-session-id": "made up" })
        for (const one of [client.post(ping), client.post(initialize()), client.get(), client.delete()]) {
          assert.strictEqual(one.status, 404)
          assert.strictEqual(one.json.error.code, -32001)
          assert.match(one.json.error.message, /^Session not found/)
        }
      })))

  it.effect("ends with DELETE: what is in flight is answered, and the rest is as if it had never been", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const flying = client.post(call(1, "act"))
        const stream = client.get()
        const gone = client.delete()
        assert.strictEqual(gone.status, 200)
        yield* answered(flying)
        assert.strictEqual(flying.json.error.code, -32000)
        assert.isTrue(stream.ended)
        for (const one of [client.post(ping), client.get(), client.delete()]) assert.strictEqual(one.status, 404)
        assert.strictEqual(visitor.endpoint.sessions(), 0)
      })))

  it.effect("ends when it was idle for half an hour", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const [idle, used] = [yield* visitor.open(), yield* visitor.open()]
        yield* TestClock.adjust("29 minutes")
        yield* used.ask(ping)
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(idle.post(ping).status, 404)
        assert.strictEqual((yield* used.ask(ping)).status, 200)
        yield* until(() => visitor.endpoint.sessions() === 1)
      })))

  it.effect("is not idle while it has a stream or a request", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const [listening, asking] = [yield* visitor.open(), yield* visitor.open()]
        const stream = listening.get()
        asking.post(call(1, "act"))
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(visitor.endpoint.sessions(), 2)
        stream.hangUp()
        yield* TestClock.adjust("29 minutes")
        assert.strictEqual(visitor.endpoint.sessions(), 2)
        yield* TestClock.adjust("31 minutes")
        assert.strictEqual(visitor.endpoint.sessions(), 1)
      }), { keepAlive: "10 minutes" }))

  it.effect("takes the place of one that is idle when there are too many", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const [busy, idle] = [yield* visitor.open(), yield* visitor.open()]
        busy.post(call(1, "act"))
        const third = yield* visitor.open()
        assert.strictEqual(idle.post(ping).status, 404)
        third.get()
        const refused = yield* visitor.ask(initialize())
        assert.strictEqual(refused.status, 503)
        assert.match(refused.sent["retry-after"]!, /^\d+$/)
        assert.match(refused.json.error.message, /2 sessions are in use/)
        assert.strictEqual((yield* third.ask(ping)).status, 200)
      }), { sessions: { max: 2 } }))

  it.effect("is not kept after an initialize that fails, or whose client has disconnected", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const failed = yield* visitor.ask(Message.request(0, "initialize", { protocolVersion: 7 }))
        assert.strictEqual(failed.json.error.code, -32602)
        assert.notProperty(failed.sent, "mcp-session-id")
        assert.strictEqual(visitor.endpoint.sessions(), 0)
      })))

  it.effect("refuses to be initialized again, and goes on", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const again = yield* client.ask(initialize())
        assert.strictEqual(again.json.error.code, -32600)
        assert.strictEqual((yield* client.ask(ping)).status, 200)
      })))

  it.effect("belongs to the principal that opened it", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const ada = yield* visitor.open(undefined, {}, { authorization: "ada" })
        const nobody = yield* visitor.open()
        const id = { "mcp-session-id": ada.session["mcp-session-id"] }
        const unknown = yield* visitor.ask(ping, { "mcp-session-id": "made up" })
        for (
          const visit of [
            yield* visitor.ask(ping, { ...id, authorization: "bob" }),
            yield* visitor.ask(ping, id),
            yield* answered(visitor.get({ ...id, authorization: "bob" })),
            yield* answered(visitor.delete({ ...id, authorization: "bob" })),
            yield* nobody.ask(ping, { authorization: "ada" })
          ]
        ) {
          assert.strictEqual(visit.status, 404)
          assert.strictEqual(visit.text, unknown.text)
        }
        assert.strictEqual((yield* ada.ask(ping)).status, 200)
      }), {
      authenticate: ({ headers: { authorization } }) =>
        Effect.succeed(authorization === undefined ? undefined : { id: authorization })
    }))

  it.effect("is given to handlers, with the headers of each request", () => {
    let seen: RequestContext.RequestContextService | undefined
    const look = act(Effect.map(RequestContext.RequestContext, (context) => seen = context))
    return visiting(serve(look), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        yield* client.ask(call(1, "act"), { "x-trace": "t" })
        assert.strictEqual(seen?.sessionId, client.session["mcp-session-id"])
        assert.strictEqual(seen?.headers["x-trace"], "t")
        assert.isUndefined(seen?.principal)
      }))
  })
})

describe("MCP-Protocol-Version", () => {
  it.effect("is the one that was agreed on, or absent", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
          const client = yield* visitor.open(version)
          assert.strictEqual((yield* client.ask(ping, { "mcp-protocol-version": version })).status, 200)
          assert.strictEqual((yield* client.ask(ping)).status, 200)
        }
      })))

  it.effect("is refused when it is unknown, with those that are not", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        for (const version of ["1999-01-01", "2026-07-28", "", "2025-11-25, 2025-11-25"]) {
          const headers = { "mcp-protocol-version": version }
          for (const visit of [client.post(ping, headers), client.get(headers), client.delete(headers)]) {
            assert.strictEqual(visit.status, 400)
            const { message } = visit.json.error
            assert.include(message, `Unsupported protocol version: ${version}`)
            assert.include(message, "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25")
          }
        }
      })))

  it.effect("is refused when another was agreed on", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-06-18")
        const visit = client.post(ping, { "mcp-protocol-version": "2025-11-25" })
        assert.strictEqual(visit.status, 400)
        assert.match(visit.json.error.message, /is 2025-11-25, but this session has agreed on 2025-06-18/)
      })))
})

describe("a notification or a response", () => {
  it.effect("is accepted with 202, without a body", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        for (
          const message of [
            Message.notification("notifications/roots/list_changed"),
            Message.notification("notifications/nobody-knows"),
            Message.success(7, {}),
            Message.failure(8, { code: 1, message: "no" })
          ]
        ) {
          const visit = client.post(message)
          assert.strictEqual(visit.status, 202)
          assert.strictEqual(visit.text, "")
        }
      })))

  it.effect("is refused with 400 when it is none", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        for (
          const message of [
            { jsonrpc: "2.0", id: 1, result: 7 },
            { jsonrpc: "2.0", method: "notifications/initialized", params: 7 }
          ]
        ) {
          const visit = client.post(message)
          assert.strictEqual(visit.status, 400)
          assert.strictEqual(visit.json.error.code, -32600)
        }
      })))
})

describe("requests", () => {
  it.effect("of equal ids in several POSTs each get their own answer", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const names = Array.from({ length: 12 }, (_, n) => String(n))
        const visits = yield* Effect.forEach(names, (name) => client.ask(call(1, "greet", { name })), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          visits.map(({ json }) => json),
          names.map((name) => ({ jsonrpc: "2.0", id: 1, result: text(`Hello, ${name}!`) }))
        )
      })))

  it.effect("that are cancelled end with a response that names the cancellation", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const forever = Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      yield* visiting(serve(act(forever)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(5, "act"))
          assert.strictEqual(client.post(Message.notification("notifications/cancelled", { requestId: 5 })).status, 202)
          yield* Deferred.await(stopped)
          yield* answered(visit)
          assert.deepStrictEqual(visit.json, {
            jsonrpc: "2.0",
            id: 5,
            error: { code: -32800, message: "Request cancelled" }
          })
        }))
    }))

  it.effect("are not cancelled by another client, nor when several have the id", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const [one, other] = [yield* visitor.open(), yield* visitor.open()]
        const mine = one.post(call(5, "act"))
        const cancel = Message.notification("notifications/cancelled", { requestId: 5 })
        other.post(cancel)
        yield* Effect.yieldNow()
        const twin = one.post(call(5, "act"))
        one.post(cancel)
        yield* Effect.yieldNow()
        assert.isFalse(mine.ended || twin.ended)
      })))

  it.effect("go on when their connection is lost", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const handler = Effect.zipRight(Deferred.await(gate), Deferred.succeed(done, undefined))
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(1, "act"))
          visit.hangUp()
          yield* TestClock.adjust("1 hour")
          yield* Deferred.succeed(gate, undefined)
          yield* Deferred.await(done)
          assert.strictEqual((yield* client.ask(ping)).status, 200)
        }))
    }))

  it.effect("beyond the bound of a session are answered, not queued", () =>
    visiting(serve(act(Effect.never), { maxInFlight: 2 }), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        client.post(call(1, "act"))
        client.post(call(2, "act"))
        const third = client.post(call(3, "act"))
        assert.strictEqual(third.status, 200)
        assert.strictEqual(third.json.error.code, -32000)
      })))
})

describe("batches", () => {
  const greet = (id: number) => call(id, "greet", { name: String(id) })

  it.effect("are answered with an array at 2025-03-26", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-03-26")
        const visit = yield* client.ask([greet(1), Message.notification("notifications/x"), greet(2), { id: 3 }])
        assert.strictEqual(visit.status, 200)
        assert.deepStrictEqual(
          visit.json.map(({ error, id, result }: any) => [id, result?.content[0].text ?? error.code]).sort(),
          [[1, "Hello, 1!"], [2, "Hello, 2!"], [3, -32600]]
        )
        // One element is a batch, too.
        assert.deepStrictEqual((yield* client.ask([ping])).json, [{ jsonrpc: "2.0", id: 1, result: {} }])
      })))

  it.effect("without a request are accepted", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-03-26")
        const visit = client.post([Message.notification("notifications/x"), Message.success(1, {})])
        assert.strictEqual(visit.status, 202)
        assert.strictEqual(visit.text, "")
      })))

  it.effect("leave as events once a handler has sent a notification", () => {
    const speak = Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", "hello"))
    return visiting(serve(act(Effect.zipRight(Effect.yieldNow(), speak))), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-03-26")
        const visit = yield* client.ask([ping, call(2, "act")])
        assert.isTrue(visit.isStream)
        assert.deepStrictEqual(
          visit.messages.map(({ id, method }) => id ?? method),
          [1, "notifications/message", 2]
        )
      }))
  })

  it.effect("are refused at other revisions, when they are empty or too long, and with an initialize", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const old = yield* visitor.open("2025-03-26")
        const recent = yield* visitor.open("2025-06-18")
        for (
          const visit of [
            recent.post([ping]),
            old.post([]),
            old.post(Array(101).fill(ping)),
            old.post([ping, initialize()]),
            visitor.post([initialize()])
          ]
        ) {
          assert.strictEqual(visit.status, 400)
          assert.strictEqual(visit.json.error.code, -32600)
        }
        // The batch inside the batch is no message, the other elements are.
        assert.deepStrictEqual((yield* old.ask([[ping]])).json[0].error.code, -32600)
      })))
})
