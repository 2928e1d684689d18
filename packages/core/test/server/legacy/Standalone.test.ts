import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber, Option, TestClock } from "effect"
import { MAX_BUFFERED, Standalone } from "../../../src/server/legacy/Standalone.js"
import { TestExchange, withEndpoint } from "../http/TestExchange.js"
import { GreetLive, serve } from "../Serving.js"
import { makeContext } from "./Context.js"

const open = (options = {}) => Effect.map(makeContext(options), (context) => new Standalone(context, undefined))

const note = (n: number) => Message.notification("notifications/x", { n })

const received = (exchange: TestExchange) => exchange.messages.map(({ id, params }) => id ?? params.n)

const get = () => new TestExchange("GET", "/mcp", {})

const provided = Effect.provide(serve(GreetLive))

describe("the standalone stream", () => {
  it.effect("needs an Accept header that allows an event stream, or none", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const refused = client.get({ accept: "application/json" })
        assert.strictEqual(refused.status, 406)
        assert.match(refused.json.error.message, /text\/event-stream/)
        for (const accept of [undefined, "*/*", "text/event-stream, application/json"]) {
          const exchange = client.get({ accept })
          assert.deepStrictEqual([exchange.isStream, exchange.text], [true, ""])
          exchange.hangUp()
        }
      })))

  it.effect("is one for each session: a second one is refused while the first is open", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = client.get()
        const second = client.get()
        assert.strictEqual(second.status, 409)
        assert.match(second.json.error.message, /has its stream already/)
        assert.isFalse(first.ended)
        first.hangUp()
        assert.isTrue(client.get().isStream)
        // Other sessions have a stream of their own.
        assert.isTrue((yield* http.open()).get().isStream)
      })))
})

describe("Standalone", () => {
  it.scoped("sends on the stream while it is open", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const exchange = get()
      standalone.attach(exchange, true)
      yield* standalone.send(note(1))
      assert.isTrue(standalone.unsafeSend(Message.request(7, "ping")))
      assert.deepStrictEqual(received(exchange), [1, 7])
      assert.isTrue(standalone.canRequest())
    }).pipe(provided))

  it.scoped("buffers notifications while there is no reader, and sends no requests", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      assert.isFalse(standalone.canRequest())
      assert.isFalse(standalone.unsafeSend(Message.request(7, "ping")))
      for (let n = 1; n <= 3; n++) yield* standalone.send(note(n))
      const exchange = get()
      standalone.attach(exchange, true)
      assert.deepStrictEqual(received(exchange), [1, 2, 3])
      yield* standalone.send(note(4))
      assert.deepStrictEqual(received(exchange), [1, 2, 3, 4])
    }).pipe(provided))

  it.scoped("drops the oldest notifications beyond MAX_BUFFERED", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      for (let n = 1; n <= MAX_BUFFERED + 44; n++) yield* standalone.send(note(n))
      const exchange = get()
      standalone.attach(exchange, true)
      const all = received(exchange)
      assert.deepStrictEqual([all.length, all[0], all.at(-1)], [MAX_BUFFERED, 45, MAX_BUFFERED + 44])
    }).pipe(provided))

  it.scoped("buffers again what a lost stream has not written", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const first = get()
      first.stalled = true
      standalone.attach(first, true)
      for (let n = 1; n <= 3; n++) yield* standalone.send(note(n))
      first.hangUp()
      yield* standalone.send(note(4))
      const second = get()
      standalone.attach(second, true)
      assert.deepStrictEqual([received(first), received(second)], [[1], [2, 3, 4]])
    }).pipe(provided))

  const updated = (uri: string) => Message.notification("notifications/resources/updated", { uri })
  const uris = (exchange: TestExchange) => exchange.messages.map(({ params }) => params.uri ?? params.n)

  it.scoped("buffers the same change once, and any other notification as often as it is sent", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      for (let n = 1; n <= 1000; n++) {
        yield* standalone.send(updated(n % 2 === 0 ? "a" : "b"))
        if (n <= 2) yield* standalone.send(note(7))
      }
      const exchange = get()
      standalone.attach(exchange, true)
      assert.deepStrictEqual(uris(exchange), ["b", 7, "a", 7])
      // A reader that is not slow gets it each time.
      for (let n = 1; n <= 2; n++) yield* standalone.send(updated("a"))
      assert.deepStrictEqual(uris(exchange).slice(4), ["a", "a"])
      exchange.hangUp()
      for (let n = 1; n <= 2; n++) yield* standalone.send(updated("a"))
      const next = get()
      standalone.attach(next, true)
      assert.deepStrictEqual(uris(next), ["a"])
    }).pipe(provided))

  it.scoped("sends an equal change once to a stalled reader, and again after it has read", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const exchange = get()
      exchange.stalled = true
      standalone.attach(exchange, true)
      for (let n = 1; n <= 100; n++) yield* standalone.send(updated("a"))
      exchange.reader!.drained()
      assert.deepStrictEqual(uris(exchange), ["a", "a"])
      for (let n = 1; n <= 100; n++) yield* standalone.send(updated("a"))
      // What it did not read is buffered for the next reader, once.
      exchange.hangUp()
      yield* standalone.send(updated("a"))
      const next = get()
      standalone.attach(next, true)
      assert.deepStrictEqual(uris(next), ["a"])
    }).pipe(provided))

  it.scoped("buffers a change again after it was dropped for others", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      yield* standalone.send(updated("a"))
      for (let n = 1; n <= MAX_BUFFERED; n++) yield* standalone.send(note(n))
      yield* standalone.send(updated("a"))
      const exchange = get()
      standalone.attach(exchange, true)
      assert.deepStrictEqual(uris(exchange).at(-1), "a")
    }).pipe(provided))

  it.scoped("stores an equal change once, until a reader has come", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* Effect.gen(function*() {
        const context = yield* makeContext()
        const key = { session: "s", stream: "g" }
        const standalone = new Standalone(context, key)
        for (let n = 1; n <= 100; n++) yield* standalone.send(updated("a"))
        assert.lengthOf(Option.getOrThrow(yield* store.after(key, -1)), 1)
        const exchange = get()
        standalone.attach(exchange, true)
        assert.deepStrictEqual(uris(exchange), ["a"])
        exchange.hangUp()
        for (let n = 1; n <= 100; n++) yield* standalone.send(updated("a"))
        assert.lengthOf(Option.getOrThrow(yield* store.after(key, -1)), 2)
        const next = get()
        standalone.attach(next, true)
        assert.deepStrictEqual(uris(next), ["a"])
      }).pipe(Effect.provideService(EventStore.EventStore, store))
    }).pipe(provided))

  it.scoped("suspends senders while its reader is slow, until the reader is cut off", () =>
    Effect.gen(function*() {
      const standalone = yield* open({ limits: { capacity: 2 } })
      const exchange = get()
      exchange.stalled = true
      standalone.attach(exchange, true)
      const sending = yield* Effect.fork(Effect.forEach([1, 2, 3, 4, 5], (n) => standalone.send(note(n))))
      yield* Effect.yieldNow()
      assert.isNull(sending.unsafePoll())
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(exchange.cut)
      yield* Fiber.join(sending)
    }).pipe(provided))

  it.scoped("sends nothing more after the end", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const exchange = get()
      standalone.attach(exchange, true)
      standalone.end()
      standalone.end()
      assert.isTrue(exchange.ended)
      assert.isFalse(standalone.unsafeSend(note(1)))
      const late = get()
      standalone.attach(late, true)
      assert.strictEqual(late.status, 404)
    }).pipe(provided))
})
