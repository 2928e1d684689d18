import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { Deferred, Effect, TestClock } from "effect"
import { answered, call, EndpointClient, initialize, withEndpoint } from "../http/TestExchange.js"
import { act, byHeader, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")
const text = (text: string) => ({ content: [{ type: "text", text }] })

describe("a session", () => {
  it.effect("begins with initialize, and later requests must name it", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const first = yield* http.ask(initialize())
        assert.strictEqual(first.status, 200)
        assert.strictEqual(first.sent["content-type"], "application/json")
        assert.strictEqual(first.json.result.protocolVersion, "2025-11-25")
        assert.match(first.sent["mcp-session-id"]!, /^[\x21-\x7e]{32,}$/)
        const client = yield* http.open()
        const exchange = yield* client.ask(call(1, "greet", { name: "you" }))
        assert.deepStrictEqual(exchange.json, { jsonrpc: "2.0", id: 1, result: text("Hello, you!") })
        assert.notProperty(exchange.sent, "mcp-session-id")
        for (const one of [http.post(ping), http.get(), http.delete()]) {
          assert.strictEqual(one.status, 400)
          assert.match(one.json.error.message, /Mcp-Session-Id header is missing/)
        }
      })))

  it.effect("is refused with 404 when it never existed", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        const client = new EndpointClient(http.endpoint, { "mcp-session-id": "made up" })
        for (const one of [client.post(ping), client.post(initialize()), client.get(), client.delete()]) {
          assert.strictEqual(one.status, 404)
          assert.strictEqual(one.json.error.code, -32001)
          assert.match(one.json.error.message, /^Session not found/)
        }
      })))

  it.effect("ends with DELETE: running requests are answered, and later ones get 404", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const flying = client.post(call(1, "act"))
        const stream = client.get()
        const gone = client.delete()
        assert.strictEqual(gone.status, 200)
        yield* answered(flying)
        assert.strictEqual(flying.json.error.code, -32000)
        assert.isTrue(stream.ended)
        for (const one of [client.post(ping), client.get(), client.delete()]) assert.strictEqual(one.status, 404)
        assert.strictEqual(http.endpoint.sessions(), 0)
      })))

  it.effect("ends when it was idle for half an hour", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const [idle, used] = [yield* http.open(), yield* http.open()]
        yield* TestClock.adjust("29 minutes")
        yield* used.ask(ping)
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(idle.post(ping).status, 404)
        assert.strictEqual((yield* used.ask(ping)).status, 200)
        yield* until(() => http.endpoint.sessions() === 1)
      })))

  it.effect("is not idle while it has a stream or a request", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const [listening, asking] = [yield* http.open(), yield* http.open()]
        const stream = listening.get()
        asking.post(call(1, "act"))
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(http.endpoint.sessions(), 2)
        stream.hangUp()
        yield* TestClock.adjust("29 minutes")
        assert.strictEqual(http.endpoint.sessions(), 2)
        yield* TestClock.adjust("31 minutes")
        assert.strictEqual(http.endpoint.sessions(), 1)
      }), { keepAlive: "10 minutes" }))

  it.effect("replaces an idle session at the limit", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const [busy, idle] = [yield* http.open(), yield* http.open()]
        busy.post(call(1, "act"))
        const third = yield* http.open()
        assert.strictEqual(idle.post(ping).status, 404)
        third.get()
        const refused = yield* http.ask(initialize())
        assert.strictEqual(refused.status, 503)
        assert.match(refused.sent["retry-after"]!, /^\d+$/)
        assert.match(refused.json.error.message, /2 sessions are in use/)
        assert.strictEqual((yield* third.ask(ping)).status, 200)
      }), { limits: { maxSessions: 2 } }))

  it.effect("ends when initialize fails, or its client has disconnected", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const failed = yield* http.ask(Message.request(0, "initialize", { protocolVersion: 7 }))
        assert.strictEqual(failed.json.error.code, -32602)
        assert.notProperty(failed.sent, "mcp-session-id")
        assert.strictEqual(http.endpoint.sessions(), 0)
      })))

  it.effect("refuses another initialize", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const session = yield* http.open()
        const again = yield* session.ask(initialize())
        assert.strictEqual(again.json.error.code, -32600)
        assert.match(again.json.error.message, /this conversation is already initialized/)
        assert.strictEqual((yield* session.ask(ping)).status, 200)
        assert.strictEqual(http.endpoint.sessions(), 1)
      })))

  it.effect("belongs to the principal that opened it", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        const ada = yield* http.open(undefined, {}, { authorization: "ada" })
        const anonymous = yield* http.open()
        const id = { "mcp-session-id": ada.session["mcp-session-id"] }
        const unknown = yield* http.ask(ping, { "mcp-session-id": "made up" })
        for (
          const exchange of [
            yield* http.ask(ping, { ...id, authorization: "bob" }),
            yield* http.ask(ping, id),
            yield* answered(http.get({ ...id, authorization: "bob" })),
            yield* answered(http.delete({ ...id, authorization: "bob" })),
            yield* anonymous.ask(ping, { authorization: "ada" })
          ]
        ) {
          assert.strictEqual(exchange.status, 404)
          assert.strictEqual(exchange.text, unknown.text)
        }
        assert.strictEqual((yield* ada.ask(ping)).status, 200)
      })))

  it.effect("is visible to handlers, with the headers of each request", () => {
    let seen: RequestContext.RequestContextService | undefined
    const look = act(Effect.map(RequestContext.RequestContext, (context) => seen = context))
    return withEndpoint(serve(look), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        yield* client.ask(call(1, "act"), { "x-trace": "t" })
        assert.strictEqual(seen?.client.sessionId, client.session["mcp-session-id"])
        assert.strictEqual(seen?.headers["x-trace"], "t")
        assert.isUndefined(seen?.principal)
      }))
  })
})

describe("a notification or a response", () => {
  it.effect("is accepted with 202, without a body", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        for (
          const message of [
            Message.notification("notifications/roots/list_changed"),
            Message.notification("notifications/unknown"),
            Message.success(7, {}),
            Message.failure(8, { code: 1, message: "no" })
          ]
        ) {
          const exchange = client.post(message)
          assert.strictEqual(exchange.status, 202)
          assert.strictEqual(exchange.text, "")
        }
      })))

  it.effect("is refused with 400 when it is malformed", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        for (
          const message of [
            { jsonrpc: "2.0", id: 1, result: 7 },
            { jsonrpc: "2.0", method: "notifications/initialized", params: 7 }
          ]
        ) {
          const exchange = client.post(message)
          assert.strictEqual(exchange.status, 400)
          assert.strictEqual(exchange.json.error.code, -32600)
        }
      })))
})

describe("requests", () => {
  it.effect("with equal ids in several POSTs each get their own answer", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const names = Array.from({ length: 12 }, (_, n) => String(n))
        const exchanges = yield* Effect.forEach(names, (name) => client.ask(call(1, "greet", { name })), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          exchanges.map(({ json }) => json),
          names.map((name) => ({ jsonrpc: "2.0", id: 1, result: text(`Hello, ${name}!`) }))
        )
      })))

  it.effect("that are cancelled end with a response that names the cancellation", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const forever = Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      yield* withEndpoint(serve(act(forever)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(5, "act"))
          assert.strictEqual(client.post(Message.notification("notifications/cancelled", { requestId: 5 })).status, 202)
          yield* Deferred.await(stopped)
          yield* answered(exchange)
          assert.deepStrictEqual(exchange.json, {
            jsonrpc: "2.0",
            id: 5,
            error: { code: -32800, message: "Request cancelled" }
          })
        }))
    }))

  it.effect("are not cancelled by another client, nor when several have the id", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const [one, other] = [yield* http.open(), yield* http.open()]
        const mine = one.post(call(5, "act"))
        const cancel = Message.notification("notifications/cancelled", { requestId: 5 })
        other.post(cancel)
        yield* Effect.yieldNow()
        const twin = one.post(call(5, "act"))
        one.post(cancel)
        yield* Effect.yieldNow()
        assert.isFalse(mine.ended || twin.ended)
      })))

  it.effect("continue when their connection is lost", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const handler = Effect.zipRight(Deferred.await(gate), Deferred.succeed(done, undefined))
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(1, "act"))
          exchange.hangUp()
          yield* TestClock.adjust("29 minutes")
          yield* Deferred.succeed(gate, undefined)
          yield* Deferred.await(done)
          assert.strictEqual((yield* client.ask(ping)).status, 200)
        }))
    }))
})

describe("batches", () => {
  const greet = (id: number) => call(id, "greet", { name: String(id) })

  it.effect("are answered with an array at 2025-03-26", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26")
        const exchange = yield* client.ask([greet(1), Message.notification("notifications/x"), greet(2), { id: 3 }])
        assert.strictEqual(exchange.status, 200)
        assert.deepStrictEqual(
          exchange.json.map(({ error, id, result }: any) => [id, result?.content[0].text ?? error.code]).sort(),
          [[1, "Hello, 1!"], [2, "Hello, 2!"], [3, -32600]]
        )
        // One element is a batch, too.
        assert.deepStrictEqual((yield* client.ask([ping])).json, [{ jsonrpc: "2.0", id: 1, result: {} }])
      })))

  it.effect("without a request are accepted", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26")
        const exchange = client.post([Message.notification("notifications/x"), Message.success(1, {})])
        assert.strictEqual(exchange.status, 202)
        assert.strictEqual(exchange.text, "")
      })))

  it.effect("leave as events once a handler has sent a notification", () => {
    const log = Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", "hello"))
    return withEndpoint(serve(act(Effect.zipRight(Effect.yieldNow(), log))), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26")
        const exchange = yield* client.ask([ping, call(2, "act")])
        assert.isTrue(exchange.isStream)
        assert.deepStrictEqual(
          exchange.messages.map(({ id, method }) => id ?? method),
          [1, "notifications/message", 2]
        )
      }))
  })

  it.effect("are refused at other revisions, when they are empty or too long, and with an initialize", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const old = yield* http.open("2025-03-26")
        const recent = yield* http.open("2025-06-18")
        for (
          const exchange of [
            recent.post([ping]),
            old.post([]),
            old.post(Array(101).fill(ping)),
            old.post([ping, initialize()]),
            http.post([initialize()])
          ]
        ) {
          assert.strictEqual(exchange.status, 400)
          assert.strictEqual(exchange.json.error.code, -32600)
        }
        // The batch inside the batch is not a message, the other elements are.
        assert.deepStrictEqual((yield* old.ask([[ping]])).json[0].error.code, -32600)
      })))
})
