import { assert, describe, it } from "@effect/vitest"
import type * as Feature from "@effect-mcp/core/Feature"
import { Effect, Layer, Option, TestClock } from "effect"
import { answered, assertRefused, call } from "../http/TestExchange.js"
import { after, log } from "../legacy/Resuming.js"
import { act, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const failed = {
  jsonrpc: "2.0",
  id: 1,
  error: {
    code: -32000,
    message: "The node that served this request has ended; whether the request has run is not known"
  }
}

/** A call that one node serves and another has passed on, and whose handler does something and then waits. */
const passedOn = (version: string, handler: Effect.Effect<unknown, never, Feature.RequestServices>) =>
  Effect.gen(function*() {
    const { node } = yield* Cluster.make(serve(act(Effect.zipRight(handler, Effect.never))), { responses: "stream" })
    const [one, two] = [yield* node, yield* node]
    const client = yield* one.http.open(version)
    const exchange = two.of(client).post(call(1, "act"))
    const ended = Effect.zipRight(
      one.stop,
      Effect.zipRight(TestClock.adjust("2 seconds"), answered(exchange))
    )
    return { one, two, client, exchange, ended }
  })

const untilIdle = Effect.repeatN(Effect.yieldNow(), 100)

describe("a stream that the store does not have yet", () => {
  it.scoped("does not begin: its client gets no event id that the next node could not find", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(log("a"), Effect.never))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-11-25")
      one.faults.opening = Effect.unsafeMakeLatch(false)
      const [own, passedOn] = [one.of(client).post(call(2, "act")), two.of(client).post(call(1, "act"))]
      for (let n = 0; n < 1000; n++) yield* Effect.yieldNow()
      assert.deepStrictEqual([own.status, passedOn.status], [undefined, undefined])
      yield* one.stop
      yield* one.faults.opening.open
      yield* TestClock.adjust("2 seconds")
      const { json, status } = yield* answered(passedOn)
      assert.deepStrictEqual([status, json], [200, failed])
      assert.isUndefined(own.status)
    }))

  it.scoped("names its requests to the next node as soon as its client has an event id", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.never)))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-11-25")
      one.faults.opening = Effect.unsafeMakeLatch(false)
      const exchange = one.of(client).post(call(1, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      yield* one.faults.opening.open
      yield* until(() => exchange.events.length === 1)
      yield* one.stop
      const resumed = yield* answered(two.of(client).get(after(exchange.lastId)))
      assert.deepStrictEqual(resumed.messages, [failed])
    }))
})

describe("the stream of a call whose node has ended", () => {
  it.scoped("has the error of the call when the client has no event id to resume with", () =>
    Effect.gen(function*() {
      const { ended, exchange } = yield* passedOn("2025-06-18", Effect.void)
      yield* until(() => exchange.status === 200)
      yield* ended
      assert.deepStrictEqual([exchange.messages, exchange.cut], [[failed], false])
    }))

  for (
    const [what, version, handler] of [
      ["the event that names a position", "2025-11-25", Effect.void],
      ["a message", "2025-06-18", log("a")],
      ["a message that comes in two pieces", "2025-06-18", log("x".repeat(80_000))]
    ] as const
  ) {
    it.scoped(`is cut when the client has had the id of ${what}, and has the error when it is resumed`, () =>
      Effect.gen(function*() {
        const { client, ended, exchange, two } = yield* passedOn(version, handler)
        yield* until(() => exchange.events.length === 1)
        yield* ended
        assert.isTrue(exchange.cut)
        const resumed = yield* answered(two.of(client).get(after(exchange.lastId)))
        assert.deepStrictEqual(resumed.messages.at(-1), failed)
      }))
  }

  it.scoped("has the error when its first event was lost between the nodes", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { exchange, one } = yield* passedOn("2025-06-18", Effect.zipRight(gate.await, log("a")))
      yield* until(() => exchange.status === 200)
      one.faults.isFull = true
      yield* gate.open
      yield* TestClock.adjust("1 second")
      one.faults.isFull = false
      yield* TestClock.adjust("2 seconds")
      yield* answered(exchange)
      assert.deepStrictEqual([exchange.messages, exchange.cut], [[failed], false])
    }))

  it.scoped("has the error after an event that is not complete, which no client takes for a message", () =>
    Effect.gen(function*() {
      const { ended, exchange } = yield* passedOn("2025-06-18", log("x".repeat(1_000_000)))
      exchange.stalled = true
      yield* until(() => exchange.text.length > 200_000)
      yield* ended
      assert.isBelow(exchange.text.length, 900_000)
      assert.isFalse(exchange.cut)
      const named = exchange.events.filter(({ event }) => event === "message")
      assert.deepStrictEqual(named.map(({ data }) => JSON.parse(data!)), [failed])
    }))

  it.scoped("has an error for each request of a batch, also when the store has not had the second one the first time", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(log("a"), Effect.never))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-03-26")
      const exchange = one.of(client).post([call(1, "act"), call(2, "act")])
      yield* until(() => exchange.events.length === 2)
      yield* one.stop
      const storing = two.faults.storing = Effect.unsafeMakeLatch(false)
      const resumed = two.of(client).get(after(exchange.lastId))
      yield* untilIdle
      yield* storing.release
      yield* untilIdle
      two.faults.losesEvents = true
      yield* storing.open
      assert.deepStrictEqual((yield* answered(resumed)).messages, [failed])
      two.faults.losesEvents = false
      const again = yield* answered(two.of(client).get(after(exchange.lastId)))
      assert.deepStrictEqual(again.messages, [failed, { ...failed, id: 2 }])
      assert.notStrictEqual(again.events[0]!.id, again.lastId)
    }))

  it.scoped("is refused, and gets no error of this node, when its own event store has lost the answer", () =>
    Effect.gen(function*() {
      const { events, node } = yield* Cluster.make(serve(Layer.merge(act(log("a")), act(log("b"), "other"))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.expire
      yield* answered(two.of(client).post(call(1, "other")))
      const storing = two.faults.storing = Effect.unsafeMakeLatch(false)
      const exchange = two.of(client).post(call(2, "act"))
      yield* untilIdle
      yield* storing.release
      yield* untilIdle
      two.faults.losesEvents = true
      yield* storing.open
      yield* answered(exchange)
      two.faults.losesEvents = false
      const { id } = exchange.events[0]!
      const resumed = yield* answered(two.of(client).get(after(id!)))
      assertRefused(resumed, 400, -32600, /resumed/)
      const [, stream] = id!.split("_")
      const stored = yield* events.after({ session: client.session["mcp-session-id"]!, stream: stream!, epoch: 2 }, -1)
      assert.lengthOf(Option.getOrThrow(stored), 1)
    }))
})
