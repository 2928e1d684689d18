import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Effect, Fiber, Option, TestClock } from "effect"
import { MAX_BUFFERED, Standalone } from "../../src/legacy/Standalone.js"
import { Visit, visiting } from "../http/Visit.js"
import { GreetLive, serve } from "../Serving.js"
import { makeContext } from "./Context.js"

const open = (options = {}) => Effect.map(makeContext(options), (context) => new Standalone(context, undefined))

const note = (n: number) => Message.notification("notifications/x", { n })

const heard = (visit: Visit) => visit.messages.map(({ id, params }) => id ?? params.n)

const get = () => new Visit("GET", "/mcp", {})

const provided = Effect.provide(serve(GreetLive))

describe("the standalone stream", () => {
  it.effect("needs an Accept header that allows it", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        for (const accept of [undefined, "application/json"]) {
          const visit = client.get({ accept })
          assert.strictEqual(visit.status, 406)
          assert.match(visit.json.error.message, /text\/event-stream/)
        }
        const visit = client.get({ accept: "text/event-stream, application/json" })
        assert.isTrue(visit.isStream)
        assert.strictEqual(visit.text, "")
      })))

  it.effect("is one for each session: a second one is refused while the first is there", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const first = client.get()
        const second = client.get()
        assert.strictEqual(second.status, 409)
        assert.match(second.json.error.message, /has its stream already/)
        assert.isFalse(first.ended)
        first.hangUp()
        assert.isTrue(client.get().isStream)
        // Other sessions have a stream of their own.
        assert.isTrue((yield* visitor.open()).get().isStream)
      })))
})

describe("Standalone", () => {
  it.scoped("speaks on the stream while there is one", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const visit = get()
      standalone.attach(visit, true)
      yield* standalone.send(note(1))
      assert.isTrue(standalone.unsafeSend(Message.request(7, "ping")))
      assert.deepStrictEqual(heard(visit), [1, 7])
      assert.isTrue(standalone.canRequest())
    }).pipe(provided))

  it.scoped("buffers notifications while there is no reader, and sends no requests", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      assert.isFalse(standalone.canRequest())
      assert.isFalse(standalone.unsafeSend(Message.request(7, "ping")))
      for (let n = 1; n <= 3; n++) yield* standalone.send(note(n))
      const visit = get()
      standalone.attach(visit, true)
      assert.deepStrictEqual(heard(visit), [1, 2, 3])
      yield* standalone.send(note(4))
      assert.deepStrictEqual(heard(visit), [1, 2, 3, 4])
    }).pipe(provided))

  it.scoped("keeps no more than it may: the oldest go", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      for (let n = 1; n <= MAX_BUFFERED + 44; n++) yield* standalone.send(note(n))
      const visit = get()
      standalone.attach(visit, true)
      const all = heard(visit)
      assert.deepStrictEqual([all.length, all[0], all.at(-1)], [MAX_BUFFERED, 45, MAX_BUFFERED + 44])
    }).pipe(provided))

  it.scoped("keeps what a stream was not given when it was lost", () =>
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
      assert.deepStrictEqual([heard(first), heard(second)], [[1], [2, 3, 4]])
    }).pipe(provided))

  const news = (uri: string) => Message.notification("notifications/resources/updated", { uri })
  const uris = (visit: Visit) => visit.messages.map(({ params }) => params.uri ?? params.n)

  it.scoped("buffers the same change once, and any other notification as often as it is sent", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      for (let n = 1; n <= 1000; n++) {
        yield* standalone.send(news(n % 2 === 0 ? "a" : "b"))
        if (n <= 2) yield* standalone.send(note(7))
      }
      const visit = get()
      standalone.attach(visit, true)
      assert.deepStrictEqual(uris(visit), ["b", 7, "a", 7])
      // A reader that is not slow gets it each time.
      for (let n = 1; n <= 2; n++) yield* standalone.send(news("a"))
      assert.deepStrictEqual(uris(visit).slice(4), ["a", "a"])
      visit.hangUp()
      for (let n = 1; n <= 2; n++) yield* standalone.send(news("a"))
      const next = get()
      standalone.attach(next, true)
      assert.deepStrictEqual(uris(next), ["a"])
    }).pipe(provided))

  it.scoped("tells the same news once to a reader that has stalled, and again after it has read", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const visit = get()
      visit.stalled = true
      standalone.attach(visit, true)
      for (let n = 1; n <= 100; n++) yield* standalone.send(news("a"))
      visit.reader!.drained()
      assert.deepStrictEqual(uris(visit), ["a", "a"])
      for (let n = 1; n <= 100; n++) yield* standalone.send(news("a"))
      // What it did not read is buffered for the next reader, once.
      visit.hangUp()
      yield* standalone.send(news("a"))
      const next = get()
      standalone.attach(next, true)
      assert.deepStrictEqual(uris(next), ["a"])
    }).pipe(provided))

  it.scoped("keeps news anew that were dropped for others", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      yield* standalone.send(news("a"))
      for (let n = 1; n <= MAX_BUFFERED; n++) yield* standalone.send(note(n))
      yield* standalone.send(news("a"))
      const visit = get()
      standalone.attach(visit, true)
      assert.deepStrictEqual(uris(visit).at(-1), "a")
    }).pipe(provided))

  it.scoped("gives the store the same news once, until there was a reader for it", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* Effect.gen(function*() {
        const context = yield* makeContext()
        const key = { session: "s", stream: "g" }
        const standalone = new Standalone(context, key)
        for (let n = 1; n <= 100; n++) yield* standalone.send(news("a"))
        assert.lengthOf(Option.getOrThrow(yield* store.after(key, -1)), 1)
        const visit = get()
        standalone.attach(visit, true)
        assert.deepStrictEqual(uris(visit), ["a"])
        visit.hangUp()
        for (let n = 1; n <= 100; n++) yield* standalone.send(news("a"))
        assert.lengthOf(Option.getOrThrow(yield* store.after(key, -1)), 2)
        const next = get()
        standalone.attach(next, true)
        assert.deepStrictEqual(uris(next), ["a"])
      }).pipe(Effect.provideService(EventStore.EventStore, store))
    }).pipe(provided))

  it.scoped("suspends senders that can wait while its reader is slow, until the reader is cut off", () =>
    Effect.gen(function*() {
      const standalone = yield* open({ capacity: 2 })
      const visit = get()
      visit.stalled = true
      standalone.attach(visit, true)
      const sending = yield* Effect.fork(Effect.forEach([1, 2, 3, 4, 5], (n) => standalone.send(note(n))))
      yield* Effect.yieldNow()
      assert.isNull(sending.unsafePoll())
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(visit.cut)
      yield* Fiber.join(sending)
    }).pipe(provided))

  it.scoped("sends nothing more after the end", () =>
    Effect.gen(function*() {
      const standalone = yield* open()
      const visit = get()
      standalone.attach(visit, true)
      standalone.end()
      standalone.end()
      assert.isTrue(visit.ended)
      assert.isFalse(standalone.unsafeSend(note(1)))
      const late = get()
      standalone.attach(late, true)
      assert.strictEqual(late.status, 404)
    }).pipe(provided))
})
