import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Layer, TestClock } from "effect"
import * as Entrances from "../Entrances.js"
import {
  answered,
  call,
  type EndpointClient,
  initialize,
  proper,
  type TestExchange,
  withEndpoint
} from "../http/TestExchange.js"
import { act, byHeader, GreetLive, serve, until } from "../Serving.js"

const options = { path: "/mcp", legacy: { ssePath: "/sse" } }

const listen = (http: EndpointClient, headers = {}): TestExchange =>
  http.send("GET", { host: "localhost", accept: "text/event-stream", ...headers }, "", "/sse")

/** A stream, and a function that posts to its URL. */
const connect = (http: EndpointClient, headers = {}) =>
  Effect.gen(function*() {
    const stream = listen(http, headers)
    yield* until(() => stream.events.length > 0)
    const uri = stream.events[0]!.data!
    const post = (body: unknown, more = {}) => http.send("POST", { ...proper, ...headers, ...more }, body, uri)
    return { post, stream, uri, messages: () => stream.events.slice(1).map(({ data }) => JSON.parse(data!)) }
  })

const shaken = (http: EndpointClient) =>
  Effect.gen(function*() {
    const client = yield* connect(http)
    client.post(initialize("2024-11-05", { roots: {} }))
    yield* until(() => client.messages().length === 1)
    client.post(Message.notification("notifications/initialized"))
    return client
  })

describe("HTTP+SSE of 2024-11-05", () => {
  it.effect("sends first the URL for messages, with an id that cannot be guessed", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const one = yield* connect(http)
        const other = yield* connect(http)
        assert.isTrue(one.stream.isStream)
        assert.strictEqual(one.stream.events[0]!.event, "endpoint")
        assert.match(one.uri, /^\/sse\?sessionId=[0-9a-f]{32}$/)
        assert.notStrictEqual(one.uri, other.uri)
        assert.strictEqual(http.endpoint.sessions(), 2)
      }), options))

  it.effect("begins the id with idPrefix", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        assert.match((yield* connect(http)).uri, /^\/sse\?sessionId=a-[0-9a-f]{32}$/)
      }), { legacy: { ...options.legacy, sessionIdPrefix: "a-" } }))

  it.effect("accepts messages with 202 and answers on the stream", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* connect(http)
        const first = client.post(initialize("2024-11-05"))
        assert.deepStrictEqual([first.status, first.text], [202, ""])
        assert.strictEqual(client.post(call(1, "greet", { name: "you" })).status, 202)
        yield* until(() => client.messages().length === 2)
        const [shaken, greeted] = client.messages()
        assert.strictEqual(shaken.result.protocolVersion, "2024-11-05")
        assert.strictEqual(greeted.result.content[0].text, "Hello, you!")
        assert.isTrue(client.stream.events.slice(1).every(({ event, id }) => event === "message" && id === undefined))
      }), options))

  it.effect("carries notifications, requests to the client, and its answers", () => {
    let roots: unknown
    const handler = Effect.flatMap(ServerSession, (session) =>
      session.log("info", "hello").pipe(
        Effect.zipRight(session.request("roots/list")),
        Effect.orDie,
        Effect.map((answer) => roots = answer)
      ))
    return withEndpoint(serve(act(handler)), (http) =>
      Effect.gen(function*() {
        const client = yield* shaken(http)
        client.post(call(1, "act"))
        yield* until(() => client.messages().length === 3)
        const question = client.messages()[2]
        assert.strictEqual(question.method, "roots/list")
        client.post(Message.success(question.id, { roots: [] }))
        yield* until(() => client.messages().length === 4)
        assert.deepStrictEqual(roots, { roots: [] })
      }), options)
  })

  it.effect("refuses messages for unknown sessions, and malformed ones", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* shaken(http)
        const post = (url: string, body: unknown = initialize()) => http.send("POST", proper, body, url)
        assert.match(post("/sse").json.error.message, /must name a "sessionId"/)
        assert.strictEqual(post("/sse").status, 400)
        assert.strictEqual(post("/sse?sessionId=made-up").status, 404)
        assert.strictEqual(client.post("{").status, 400)
        assert.strictEqual(client.post("{").json.error.code, -32700)
        assert.strictEqual(client.post([Message.request(1, "ping")]).status, 400)
        assert.strictEqual(client.post("{}", { "content-type": "text/plain" }).status, 415)
        assert.strictEqual(client.post("{}", { host: "evil.com" }).status, 403)
        assert.strictEqual(http.send("DELETE", proper, "", client.uri).status, 405)
        assert.strictEqual(listen(http, { accept: "application/json" }).status, 406)
        assert.strictEqual(listen(http, { origin: "http://evil.com" }).status, 403)
        // An error about a message with an id is sent on the stream, too.
        assert.strictEqual(client.post({ id: 9, method: "ping" }).status, 400)
        yield* until(() => client.messages().length === 2)
        assert.strictEqual(client.messages()[1].id, 9)
        // It needs no Accept header: the answer has no body.
        assert.strictEqual(client.post(Message.request(1, "ping"), { accept: undefined }).status, 202)
      }), options))

  it.effect("is not served unless ssePath is given", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        assert.strictEqual(listen(http).status, 404)
      }), { path: "/mcp" }))

  it.effect("ends the conversation with the stream: handlers are interrupted, and no response is sent", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const forever = Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      yield* withEndpoint(serve(act(forever)), (http) =>
        Effect.gen(function*() {
          const client = yield* shaken(http)
          client.post(call(1, "act"))
          client.stream.hangUp()
          yield* Deferred.await(stopped)
          assert.strictEqual(client.post(Message.request(2, "ping")).status, 404)
          assert.strictEqual(http.endpoint.sessions(), 0)
        }), options)
    }))

  it.effect("answers running requests before it ends", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const client = yield* shaken(http)
        client.post(call(1, "act"))
        yield* http.endpoint.close
        assert.deepStrictEqual(client.messages().at(-1).error.code, -32000)
        assert.isTrue(client.stream.ended)
        assert.isFalse(client.stream.cut)
      }), options))

  it.effect("belongs to the principal that opened it", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        const client = yield* connect(http, { authorization: "ada" })
        const foreign = yield* answered(client.post(initialize(), { authorization: "bob" }))
        assert.strictEqual(foreign.status, 404)
        assert.strictEqual((yield* answered(client.post(initialize()))).status, 202)
      }), options))

  it.effect("gives handlers the principal and the headers of each message", () => {
    const seen: Array<unknown> = []
    const look = Effect.map(RequestContext.RequestContext, ({ client: { sessionId }, headers, principal }) => {
      seen.push([headers["x-trace"], principal?.id, sessionId])
    })
    return withEndpoint(
      serve(Layer.merge(act(look), MethodHandler.rootsListChanged(look)), byHeader),
      (http) =>
        Effect.gen(function*() {
          const client = yield* connect(http, { authorization: "ada" })
          client.post(initialize("2024-11-05"))
          yield* until(() => client.messages().length === 1)
          client.post(call(1, "act"), { "x-trace": "a" })
          yield* until(() => seen.length === 1)
          client.post(Message.notification("notifications/roots/list_changed"), { "x-trace": "b" })
          yield* until(() => seen.length === 2)
          const id = client.uri.split("=")[1]
          assert.deepStrictEqual(seen, [["a", "ada", id], ["b", "ada", id]])
        }),
      options
    )
  })

  it.effect("refuses an id that is in flight, and accepts it again after the answer", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate))), (http) =>
        Effect.gen(function*() {
          const client = yield* shaken(http)
          for (let i = 0; i < 3; i++) client.post(call(1, "act"))
          client.post({ id: 1, method: "ping" })
          client.post(call(1, "act"))
          yield* until(() => client.messages().length === 5)
          assert.deepStrictEqual(client.messages().slice(1).map(({ error }) => error.code), Array(4).fill(-32600))
          yield* Deferred.succeed(gate, undefined)
          yield* until(() => client.messages().length === 6)
          client.post(call(1, "act"))
          yield* until(() => client.messages().length === 7)
          assert.isTrue(client.messages().slice(5).every(({ result }) => result !== undefined))
        }), options)
    }))

  it.effect("accepts an id again after its request was cancelled, which is not answered", () =>
    Effect.gen(function*() {
      let stopped = 0
      yield* withEndpoint(serve(act(Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++)))), (http) =>
        Effect.gen(function*() {
          const client = yield* shaken(http)
          for (let i = 1; i <= 2; i++) {
            client.post(call(1, "act"))
            client.post(Message.notification("notifications/cancelled", { requestId: 1 }))
            yield* until(() =>
              stopped === i
            )
          }
          assert.lengthOf(client.messages(), 1)
        }), options)
    }))

  it.effect("has a limit for each principal", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        yield* connect(http, { authorization: "ada" })
        const second = yield* answered(listen(http, { authorization: "ada" }))
        assert.strictEqual(second.status, 503)
        assert.match(second.json.error.message, /1 sessions are in use/)
        yield* connect(http, { authorization: "bob" })
        yield* connect(http)
        yield* connect(http)
      }), {
      ...options,
      limits: { maxSessionsPerPrincipal: 1 }
    }))

  it.effect("has a limit, and cuts off a slow reader", () => {
    const log = Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", "x"))
    const many = Effect.zipRight(Effect.yieldNow(), Effect.forEach(Array.from({ length: 20 }), () => log))
    return withEndpoint(serve(act(many)), (http) =>
      Effect.gen(function*() {
        const client = yield* shaken(http)
        assert.strictEqual(listen(http).status, 503)
        client.stream.stalled = true
        client.post(call(1, "act"))
        yield* until(() => client.messages().length > 1)
        yield* TestClock.adjust("31 seconds")
        assert.isTrue(client.stream.cut)
        yield* until(() => http.endpoint.sessions() === 0)
        assert.isTrue(listen(http).isStream)
      }), { ...options, limits: { maxSessions: 1, capacity: 4 } })
  })

  it.effect("ends when its client does not initialize in time", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const silent = yield* connect(http)
        const client = yield* shaken(http)
        yield* TestClock.adjust("30 seconds")
        yield* until(() => silent.stream.ended && http.endpoint.sessions() === 1)
        assert.isFalse(client.stream.ended)
      }), options))

  it.effect("is not closed to others by clients that open streams and do not initialize", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* shaken(http)
        const silent = Array.from({ length: 500 }, () => listen(http))
        const refused = silent.filter(({ status }) => status === 503)
        assert.lengthOf(refused, 400)
        assert.match((yield* answered(refused[0]!)).json.error.message, /100 sessions are in use/)
        // After a while a new client replaces the oldest of those that sent nothing.
        yield* TestClock.adjust("5 seconds")
        const late = yield* shaken(http)
        yield* until(() => silent[0]!.ended)
        assert.lengthOf(silent.filter(({ ended, isStream }) => isStream && !ended), 99)
        for (const { stream } of [client, late]) assert.isFalse(stream.ended)
        assert.strictEqual(http.endpoint.sessions(), 101)
      }), { ...options, limits: { maxSessions: 1000 } }))

  it.effect("gives the place of the oldest silent stream to a new client, and not that of an older one that is being initialized", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let built = 0
      const slow = Layer.effectDiscard(Effect.suspend(() => built++ === 0 ? Deferred.await(gate) : Effect.void))
      yield* withEndpoint(serve(GreetLive, { session: slow }), (http) =>
        Effect.gen(function*() {
          const busy = yield* connect(http)
          busy.post(initialize("2024-11-05"))
          yield* until(() => built === 1)
          const silent = Array.from({ length: 99 }, () => listen(http))
          yield* TestClock.adjust("5 seconds")
          const late = yield* shaken(http)
          yield* until(() => silent[0]!.ended)
          assert.lengthOf(silent.filter(({ ended }) => ended), 1)
          for (const { stream } of [busy, late]) assert.isFalse(stream.ended)
          yield* Deferred.succeed(gate, undefined)
          yield* until(() => busy.messages().length === 1)
        }), { ...options, limits: { maxSessions: 1000 } })
    }))

  it.effect("gives a client with a principal the place of one without, and never the other way round", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        const user = (name: string) => listen(http, { authorization: name })
        const flood = Array.from({ length: 30 }, () => listen(http))
        const named = ["ada", "bob"].map(user)
        yield* until(() => flood.filter(({ ended, isStream }) => isStream && ended).length === 2)
        const full = Array.from({ length: 14 }, (_, i) => user(`user${i}`))
        yield* until(() => flood.every(({ ended, isStream }) => !isStream || ended))
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(listen(http).status, 503)
        for (const { ended, status } of [...named, ...full]) assert.deepStrictEqual([status, ended], [200, false])
      }), { ...options, limits: { maxSessions: 16 } }))

  it.effect("refuses a stream without looking at all others", () => {
    let looks = 0
    const counting = Layer.effect(
      Dispatcher,
      Effect.map(Entrances.entrances, (dispatcher) => ({
        ...dispatcher,
        open: (...args: Parameters<typeof dispatcher.open>) => {
          const conversation = dispatcher.open(...args)
          return { ...conversation, version: () => (looks++, conversation.version()) }
        }
      }))
    )
    return withEndpoint(Layer.provide(counting, serve(GreetLive)), (http) =>
      Effect.gen(function*() {
        const clients = yield* Effect.replicateEffect(shaken(http), 10)
        Array.from({ length: 100 }, () => listen(http))
        looks = 0
        const refused = Array.from({ length: 100 }, () => listen(http))
        assert.isTrue(refused.every(({ status }) => status === 503))
        assert.isAtMost(looks, 200)
        for (const { stream } of clients) assert.isFalse(stream.ended)
      }), { ...options, limits: { maxSessions: 1000 } })
  })
})
