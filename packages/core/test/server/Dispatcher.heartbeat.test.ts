/**
 * The option `heartbeat` of a server: over a pipe, over HTTP with and without sessions, and in the modern era.
 */
import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Layer, TestClock } from "effect"
import { call as callMessage, proper, type TestExchange, withEndpoint } from "./http/TestExchange.js"
import * as Modern from "./modern/Modern.js"
import { act, call, connect, GreetLive, serve, uninitialized, until } from "./Serving.js"

const heartbeat = { interval: "10 seconds" } as const

const server = serve(Layer.merge(act(Effect.never), GreetLive), { heartbeat })

/** The interval in which the client has sent something ends. */
const quiet = TestClock.adjust("10 seconds")

/** The pings on a stream. */
const pings = ({ messages }: TestExchange) => messages.filter(({ method }) => method === "ping")

const ping = Message.request(7, "ping")

describe("The heartbeat of a server", () => {
  it.scoped("ends the conversation of a silent client, over a pipe", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const peer = yield* connect()
      yield* call(peer, "act")
      yield* quiet
      yield* TestClock.adjust("10 seconds")
      yield* peer.expectRequest("ping")
      yield* TestClock.adjust("10 seconds")
      yield* peer.expectNotification("notifications/cancelled")
      yield* peer.expectRequest("ping")
      yield* TestClock.adjust("10 seconds")
      yield* until(() => dispatcher.conversations() === 0)
      // The cancel of the second ping, or the end.
      yield* Effect.exit(peer.next)
    }).pipe(Effect.provide(server)))

  it.scoped("lets a client stay that answers or sends", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* quiet
      yield* TestClock.adjust("10 seconds")
      const { id } = yield* peer.expectRequest("ping")
      yield* TestClock.adjust("9 seconds")
      yield* peer.send(Message.success(id, {}))
      for (let n = 0; n < 9; n++) {
        yield* peer.expectSilence
        yield* TestClock.adjust("9 seconds")
      }
    }).pipe(Effect.provide(server)))

  it.scoped("sends no ping before `initialize`", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* TestClock.adjust("1 hour")
      yield* peer.expectSilence
    }).pipe(Effect.provide(server)))

  it.scoped("sends none to a client of 2026-07-28, which has no ping", () =>
    Effect.gen(function*() {
      const peer = yield* Modern.connect
      yield* Modern.result(peer, "tools/list")
      yield* TestClock.adjust("1 hour")
      yield* Modern.silence(peer)
    }).pipe(Effect.provide(server)))

  it.effect("ends a session over HTTP whose client reads its stream and answers nothing", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const stream = client.get()
        const post = client.post(callMessage(1, "act"))
        yield* quiet
        yield* TestClock.adjust("10 seconds")
        assert.lengthOf(pings(stream), 1)
        yield* TestClock.adjust("10 seconds")
        assert.lengthOf(pings(stream), 2)
        yield* TestClock.adjust("10 seconds")
        yield* until(() => stream.ended && post.ended)
        assert.strictEqual(post.messages.at(-1).error.code, -32000)
        assert.strictEqual((yield* client.ask(ping)).status, 404)
        assert.strictEqual(http.endpoint.sessions(), 0)
      })))

  it.effect("lets a session stay over HTTP whose client answers, or has no stream", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const [answering, without] = [yield* http.open(), yield* http.open()]
        const stream = answering.get()
        let answered = 0
        for (let n = 1; n < 10; n++) {
          yield* TestClock.adjust("10 seconds")
          for (const { id } of pings(stream).slice(answered)) {
            assert.strictEqual(answering.post(Message.success(id, {})).status, 202)
            answered++
          }
        }
        assert.isAbove(answered, 3)
        assert.isFalse(stream.ended)
        for (const client of [answering, without]) assert.strictEqual((yield* client.ask(ping)).status, 200)
      })))

  it.effect("ends a conversation over HTTP+SSE whose client answers nothing", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const stream = http.send("GET", { host: "localhost", accept: "text/event-stream" }, "", "/sse")
        yield* until(() => stream.events.length > 0)
        const post = (body: unknown) => http.send("POST", proper, body, stream.events[0]!.data!)
        const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "test", version: "0" } }
        post(Message.request(0, "initialize", params))
        post(Message.notification("notifications/initialized"))
        yield* quiet
        yield* TestClock.adjust("30 seconds")
        yield* until(() => stream.ended)
        // The first event is the URL.
        const sent = stream.events.slice(1).map(({ data }) => JSON.parse(data!).method)
        const cancelled = "notifications/cancelled"
        assert.deepStrictEqual(sent, [undefined, "ping", cancelled, "ping", cancelled])
        assert.strictEqual(post(ping).status, 404)
      }), { legacy: { ssePath: "/sse" } }))

  it.effect("sends nothing where the endpoint keeps no sessions", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const post = http.post(callMessage(1, "act"))
        yield* TestClock.adjust("1 minute")
        assert.isFalse(post.ended)
        assert.deepStrictEqual(post.messages, [])
        post.hangUp()
      }), { legacy: { sessions: false } }))
})
