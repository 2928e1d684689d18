import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { Cause, Context, Deferred, Effect, Layer, Option, TestClock } from "effect"
import * as Endpoint from "../../../src/server/dispatch/Endpoint.js"
import { answered, assertRefused, call, type TestExchange } from "../http/TestExchange.js"
import { after, log, received } from "../legacy/Resuming.js"
import { act, byHeader, GreetLive, identified, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const hello = { content: [{ type: "text", text: "Hello, you!" }] }

/** The response of an exchange, whether it is JSON or the end of a stream. */
const resultOf = (exchange: TestExchange) => (exchange.isStream ? exchange.messages.at(-1) : exchange.json).result

const failedAt = {
  code: -32000,
  message: "The node that served this request has ended; whether the request has run is not known"
}

/** A handler that runs until it is cancelled. */
const waiting = Effect.gen(function*() {
  const [running, cancelled] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const handler = Effect.onInterrupt(
    Effect.zipRight(Deferred.succeed(running, undefined), Effect.never),
    () => Deferred.succeed(cancelled, undefined)
  )
  return { running, cancelled, handler }
})

describe("a request of a session that another node serves", () => {
  it.scoped("is answered as if it had arrived there", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const answer = yield* two.of(client).ask(call(1, "greet", { name: "you" }))
      assert.deepStrictEqual([answer.status, answer.json.result], [200, hello])
      assert.strictEqual((yield* two.of(client).ask(Message.notification("notifications/x"))).status, 202)
      assert.deepStrictEqual([one.endpoint.sessions(), two.endpoint.sessions()], [1, 0])
    }))

  it.scoped("is answered when it has `set-cookie`, which Node gives as an array", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const headers = { "set-cookie": ["a=1", "b=2"] } as never
      const answer = yield* two.of(client).ask(call(1, "greet", { name: "you" }), headers)
      assert.deepStrictEqual([answer.status, answer.json.result], [200, hello])
    }))

  it.scoped("gets the 404 of an unknown session when there is none anywhere, or when it has ended", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const gone = two.of(client).delete()
      yield* answered(gone)
      assert.strictEqual(gone.status, 200)
      yield* until(() => one.endpoint.sessions() === 0)
      for (const http of [one.of(client), two.of(client)]) {
        const exchange = http.post(call(1, "greet"))
        yield* TestClock.adjust("1 second")
        assertRefused(yield* answered(exchange), 404, -32001, /^Session not found/)
      }
    }))

  it.scoped("belongs to its principal, wherever it arrives", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive, byHeader))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open(undefined, undefined, { authorization: "ada" })
      const greet = call(1, "greet", { name: "you" })
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(greet)), hello)
      assertRefused(yield* two.of(client).ask(greet, { authorization: "bob" }), 404, -32001, /^Session not found/)
      yield* one.stop
      assertRefused(yield* two.of(client).ask(greet, { authorization: "bob" }), 404, -32001, /^Session not found/)
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(greet)), hello)
    }))

  it.scoped("streams what its handler sends, whatever the order and however much", () =>
    Effect.gen(function*() {
      const lines = Array.from({ length: 500 }, (_, n) => `${n} ${"x".repeat(2000)}`)
      const { node } = yield* Cluster.make(serve(act(Effect.forEach(lines, log, { discard: true }))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = yield* answered(two.of(client).post(call(1, "act")))
      assert.deepStrictEqual(received(exchange), [...lines, 1])
    }))

  it.scoped("waits for a client that reads slowly", () =>
    Effect.gen(function*() {
      let sent = 0
      const line = "x".repeat(50_000)
      const lines = Effect.forEach(
        Array.from({ length: 200 }),
        () => Effect.tap(log(line), () => Effect.sync(() => sent++)),
        { discard: true }
      )
      const { node } = yield* Cluster.make(serve(act(lines)), { limits: { capacity: 4 } })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = two.of(client).post(call(1, "act"))
      exchange.stalled = true
      yield* until(() => sent > 3)
      yield* TestClock.adjust("10 seconds")
      assert.isBelow(sent, 100)
      exchange.drain()
      yield* answered(exchange)
      assert.strictEqual(received(exchange).length, 201)
    }))

  it.scoped("is cancelled by a notification that arrives at a third node", () =>
    Effect.gen(function*() {
      const { cancelled, handler, running } = yield* waiting
      const { node } = yield* Cluster.make(serve(act(handler)))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      two.of(client).post(call(1, "act"))
      yield* Deferred.await(running)
      three.of(client).post(Message.notification("notifications/cancelled", { requestId: 1 }))
      yield* Deferred.await(cancelled)
    }))

  for (const isResumable of [true, false]) {
    const streams = isResumable ? "the client can resume streams" : "it cannot"
    it.scoped(`SHOULD NOT be cancelled by its client that disconnects, when ${streams}`, () =>
      Effect.gen(function*() {
        const { cancelled, handler, running } = yield* waiting
        const { node } = yield* Cluster.make(serve(Layer.merge(GreetLive, act(handler))), { isResumable })
        const [one, two, three] = [yield* node, yield* node, yield* node]
        const client = yield* one.http.open()
        const exchange = two.of(client).post(call(1, "act"))
        yield* Deferred.await(running)
        exchange.hangUp()
        // The node that serves the session gets this after the end of the connection.
        yield* answered(two.of(client).post(call(2, "greet", { name: "you" })))
        yield* TestClock.adjust("1 minute")
        assert.isFalse(yield* Deferred.isDone(cancelled))
        three.of(client).post(Message.notification("notifications/cancelled", { requestId: 1 }))
        yield* Deferred.await(cancelled)
      }))
  }

  it.scoped("may ask the client: the answer arrives at any node", () =>
    Effect.gen(function*() {
      const asks = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
      const { node } = yield* Cluster.make(serve(act(asks as Effect.Effect<unknown, never, ServerSession>)))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open("2025-11-25", { elicitation: {} })
      const exchange = two.of(client).post(call(1, "act"))
      yield* until(() => exchange.messages.length === 1)
      const { id, method } = exchange.messages[0]
      assert.strictEqual(method, "elicitation/create")
      three.of(client).post({ jsonrpc: "2.0", id, result: { action: "accept", content: { confirmed: true } } })
      yield* answered(exchange)
      assert.strictEqual(exchange.messages[1].id, 1)
    }))
})

describe("the standalone stream", () => {
  it.scoped("is open at any node, and gets what happens at the one that serves the session", () =>
    Effect.gen(function*() {
      const changes = Effect.flatMap(ServerSession, ({ changed: { tools: toolListChanged } }) => toolListChanged)
      const { node } = yield* Cluster.make(serve(act(changes)))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      yield* one.of(client).ask(call(1, "act"))
      yield* until(() => stream.messages.length === 1)
      assert.strictEqual(stream.messages[0].method, "notifications/tools/list_changed")
      const second = yield* answered(one.of(client).get())
      assert.strictEqual(second.status, 409)
      stream.hangUp()
      yield* until(() => one.of(client).get().status === 200)
    }))
})

class Counter extends Context.Tag("test/Counter")<Counter, { count: number }>() {}

const counting = serve(
  act(Effect.flatMap(Counter, (counter) => log(++counter.count))),
  { session: Layer.sync(Counter, () => ({ count: 0 })) }
)

describe("a session whose node has ended", () => {
  it.scoped("goes on at the next node that gets a request, with what its client has set", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(Layer.mergeAll(
        GreetLive,
        act(Effect.flatMap(RequestContext.RequestContext, ({ client, log, version }) =>
          Effect.zipRight(log("info", "hidden"), log("error", [client.info?.name, version]))))
      )))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-06-18")
      yield* one.of(client).ask(Message.request(1, "logging/setLevel", { level: "warning" }))
      yield* one.stop
      const exchange = yield* answered(two.of(client).post(call(2, "act")))
      assert.deepStrictEqual(received(exchange), [["test", "2025-06-18"], 2])
      assert.strictEqual(two.endpoint.sessions(), 1)
      assert.strictEqual((yield* two.of(client).ask(Message.request(3, "initialize"))).status, 200)
    }))

  it.scoped("goes on at once when the node has shut down", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.leave
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(1, "greet", { name: "you" }))), hello)
    }))

  it.scoped("has a session layer of its own at the next node, built once", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(counting)
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      assert.deepStrictEqual(received(yield* answered(one.of(client).post(call(1, "act")))), [1, 1])
      yield* one.stop
      const both = [two.of(client).post(call(2, "act")), two.of(client).post(call(3, "act"))]
      const counts = yield* Effect.forEach(both, (exchange) => Effect.map(answered(exchange), received))
      assert.deepStrictEqual(counts.map(([count]) => count).sort(), [1, 2])
    }))

  it.scoped("is taken over by one of the nodes that try at the same time", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      const exchanges = [two, three, two, three].map((node, n) =>
        node.of(client).post(call(n, "greet", { name: "you" }))
      )
      for (const exchange of exchanges) assert.deepStrictEqual(resultOf(yield* answered(exchange)), hello)
      assert.strictEqual(two.endpoint.sessions() + three.endpoint.sessions(), 1)
    }))

  it.scoped("answers a forwarded request that ran there with an error, and does not run it again", () =>
    Effect.gen(function*() {
      let runs = 0
      const { node } = yield* Cluster.make(
        serve(act(Effect.zipRight(Effect.sync(() => runs++), Effect.never))),
        { isResumable: false }
      )
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = two.of(client).post(call("a", "act"))
      yield* until(() => runs === 1)
      yield* one.stop
      yield* TestClock.adjust("2 seconds")
      yield* answered(exchange)
      assert.deepStrictEqual(exchange.json, { jsonrpc: "2.0", id: "a", error: failedAt })
      yield* two.of(client).ask(Message.request(2, "ping"))
      assert.strictEqual(runs, 1)
    }))

  it.scoped("answers a request whose stream the client resumes with an error, after all that was stored", () =>
    Effect.gen(function*() {
      let runs = 0
      const { node } = yield* Cluster.make(
        serve(act(Effect.zipRight(Effect.zipRight(Effect.sync(() => runs++), log("a")), Effect.never)))
      )
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = one.of(client).post(call(7, "act"))
      yield* until(() => exchange.messages.length === 1)
      yield* one.stop
      const [first] = exchange.events
      for (const _ of [1, 2]) {
        const resumed = yield* answered(two.of(client).get(after(first!.id!)))
        assert.deepStrictEqual(received(resumed).at(0), "a")
        assert.deepStrictEqual(resumed.messages.at(-1), { jsonrpc: "2.0", id: 7, error: failedAt })
        assert.strictEqual(resumed.messages.length, 2)
      }
      assert.strictEqual(runs, 1)
    }))

  it.scoped("delivers at the next node what was stored on its standalone stream, and what comes later", () =>
    Effect.gen(function*() {
      const changes = Effect.flatMap(ServerSession, ({ changed: { tools: toolListChanged } }) => toolListChanged)
      const { events, node } = yield* Cluster.make(serve(act(changes)))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.of(client).ask(call(1, "act"))
      const key = { session: client.session["mcp-session-id"]!, stream: "g" }
      yield* Effect.repeat(events.after(key, -1), { until: Option.exists((stored) => stored.length === 1) })
      yield* one.stop
      const stream = two.of(client).get()
      yield* until(() => stream.messages.length === 1)
      yield* two.of(client).ask(call(2, "act"))
      yield* until(() => stream.messages.length === 2)
      const ids = stream.events.flatMap(({ data, id }) => data === "" || id === undefined ? [] : [id])
      assert.strictEqual(new Set(ids).size, 2)
      const resumed = two.of(client).get(after(ids[0]!))
      yield* until(() => resumed.messages.length === 1)
    }))

  it.scoped("is ended at a node whose lease has expired, when that node stores an event or a change", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { node } = yield* Cluster.make(serve(Layer.merge(GreetLive, act(Effect.zipRight(gate.await, log("late"))))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = one.of(client).post(call(1, "act"))
      yield* one.expire
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(2, "greet", { name: "you" }))), hello)
      // The new node has stored an event of its epoch.
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      yield* answered(two.of(client).post(call(3, "greet", { name: "you" })))
      yield* one.of(client).ask(Message.request(4, "logging/setLevel", { level: "info" }))
      yield* until(() => one.endpoint.sessions() === 0)
      yield* gate.open
      yield* answered(exchange)
      assert.strictEqual(two.endpoint.sessions(), 1)
    }))
})

describe("the calls of a node whose lease was lost", () => {
  for (const responses of ["json", "stream"] as const) {
    it.scoped(`end, when the node learns of it, with the error that other nodes send for a node that has ended, as ${responses}`, () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(Layer.merge(GreetLive, act(Effect.never))), { responses })
        const [one, two] = [yield* node, yield* node]
        const client = yield* one.http.open("2025-06-18")
        const exchange = one.of(client).post(call(1, "act"))
        yield* one.expire
        assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(2, "greet", { name: "you" }))), hello)
        yield* one.of(client).ask(Message.request(3, "logging/setLevel", { level: "info" }))
        const ended = yield* answered(exchange)
        assert.deepStrictEqual(responses === "json" ? ended.json : ended.messages[0], {
          jsonrpc: "2.0",
          id: 1,
          error: {
            code: -32000,
            message: "The node that served this request has ended; whether the request has run is not known"
          }
        })
      }))
  }
})

describe("an endpoint", () => {
  it.scoped("does not read the body of a request whose session there is nowhere, before it knows the client", () =>
    Effect.gen(function*() {
      const refusing = identified(() => Effect.fail(HttpRefusal.unauthorized("Bearer")))
      const { node } = yield* Cluster.make(serve(GreetLive, refusing))
      const { http } = yield* node
      const exchange = yield* answered(http.post(call(1, "greet"), { "mcp-session-id": "none" }))
      assert.deepStrictEqual([exchange.status, exchange.read], [401, false])
    }))

  it.scoped("dies without inboxes when it has a directory", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.provide(Endpoint.make(), serve(GreetLive)))
      assert.include(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "", "provide Inbox")
    }).pipe(Effect.provide(SessionDirectory.layerMemory)))
})
