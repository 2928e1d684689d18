import { assert, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import * as Deadlines from "../../../src/kit/Deadlines.js"
import { PIECE } from "../../../src/server/http/HttpExchange.js"
import * as StreamedAnswer from "../../../src/server/http/StreamedAnswer.js"
import { UnsentText } from "../../../src/server/http/UnsentText.js"
import * as ResolvedLimits from "../../../src/server/runtime/ResolvedLimits.js"
import { TestExchange } from "./TestExchange.js"

const open = (
  { limits = ResolvedLimits.ofHttp({ capacity: 4, maxQueued: 1_000_000 }), ...options }:
    & Partial<StreamedAnswer.Options>
    & Partial<Pick<StreamedAnswer.Shared, "limits">> = {},
  unsent = new UnsentText(Infinity)
) =>
  Effect.gen(function*() {
    const exchange = new TestExchange("GET", "/mcp", {})
    const sweeper = yield* Deadlines.make(1000)
    const closed: Array<ReadonlyArray<string>> = []
    const stream = new StreamedAnswer.EventStream(exchange, { sweeper, unsent, limits }, {
      headers: StreamedAnswer.HEADERS,
      keepAlive: 15_000,
      onClose: (unsent) => closed.push(unsent),
      ...options
    })
    return { closed, stream, sweeper, exchange }
  })

describe("StreamedAnswer", () => {
  it.scoped("begins with headers that forbid proxies to buffer it", () =>
    Effect.gen(function*() {
      const { exchange } = yield* open({ headers: { ...StreamedAnswer.HEADERS, "mcp-session-id": "s" } })
      assert.strictEqual(exchange.status, 200)
      assert.deepStrictEqual(exchange.sent, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "mcp-session-id": "s"
      })
    }))

  it.scoped("writes at once, in order, while the reader reads", () =>
    Effect.gen(function*() {
      const { exchange, stream } = yield* open()
      for (const text of ["a", "b", "c"]) assert.isTrue(stream.push(text))
      assert.strictEqual(exchange.text, "abc")
    }))

  it.scoped("buffers what the reader does not take, and suspends senders that can wait", () =>
    Effect.gen(function*() {
      const { exchange, stream } = yield* open()
      exchange.stalled = true
      for (const text of ["a", "b", "c", "d", "e"]) stream.push(text)
      assert.strictEqual(exchange.text, "a")
      assert.isTrue(stream.isFull)
      const waiting = yield* Effect.fork(stream.space)
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      // A sender that cannot wait adds its event nevertheless.
      assert.isTrue(stream.push("f"))
      assert.isFalse(stream.isFlowing)
      const { flushes } = stream
      exchange.drain()
      yield* Fiber.join(waiting)
      assert.strictEqual(exchange.text, "abcdef")
      assert.deepStrictEqual([stream.isFlowing, stream.flushes], [true, flushes + 1])
    }))

  it.scoped("hands over what it has not written before a sender that waits goes on", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const { exchange, stream } = yield* open({ onClose: () => order.push("handed over") })
      exchange.stalled = true
      for (const text of ["a", "b", "c", "d", "e"]) stream.push(text)
      const waiting = yield* Effect.fork(Effect.map(stream.space, () => order.push("woken")))
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      stream.cut()
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(order, ["handed over", "woken"])
    }))

  it.scoped("ends once, after the events that wait", () =>
    Effect.gen(function*() {
      const { closed, exchange, stream, sweeper } = yield* open()
      exchange.stalled = true
      stream.push("a")
      stream.push("b")
      stream.end()
      assert.isFalse(stream.push("c"))
      assert.isFalse(exchange.ended)
      exchange.drain()
      assert.isTrue(exchange.ended)
      assert.isFalse(exchange.cut)
      assert.strictEqual(exchange.text, "ab")
      stream.end()
      stream.gone()
      assert.deepStrictEqual(closed, [[]])
      assert.strictEqual(sweeper.size, 0)
    }))

  it.scoped("returns the unwritten events when the reader disconnects", () =>
    Effect.gen(function*() {
      const { closed, exchange, stream } = yield* open()
      exchange.stalled = true
      for (const text of ["a", "b", "c"]) stream.push(text)
      const waiting = yield* Effect.fork(stream.space)
      exchange.hangUp()
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(closed, [["b", "c"]])
      assert.isTrue(stream.isClosed)
      assert.isFalse(stream.push("d"))
    }))

  it.scoped("sends a comment after each keepAlive without an event, and only then", () =>
    Effect.gen(function*() {
      const { exchange, stream } = yield* open()
      yield* TestClock.adjust("14 seconds")
      stream.push("a")
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(exchange.text, "a")
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(exchange.text, "a: \n\n")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(exchange.text, "a" + ": \n\n".repeat(5))
    }))

  it.scoped("sends no comments with keepAlive Infinity", () =>
    Effect.gen(function*() {
      const { exchange } = yield* open({
        keepAlive: Infinity,
        limits: ResolvedLimits.ofHttp({ stallTimeout: Infinity })
      })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(exchange.text, "")
      exchange.hangUp()
    }))

  it.scoped("cuts off a reader that takes nothing for stallTimeout", () =>
    Effect.gen(function*() {
      const { closed, exchange, stream } = yield* open()
      exchange.stalled = true
      stream.push("a")
      stream.push("b")
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(exchange.cut)
      // A reader that takes something gets the whole time again.
      exchange.reader!.drained()
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(exchange.cut)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(exchange.cut)
      assert.deepStrictEqual(closed, [[]])
    }))

  it.scoped("cuts off a reader that takes no comments, and one that prevents the stream from ending", () =>
    Effect.gen(function*() {
      const silent = yield* open()
      silent.exchange.stalled = true
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(silent.exchange.text, ": \n\n")
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(silent.exchange.cut)
      const ending = yield* open()
      ending.exchange.stalled = true
      ending.stream.push("a")
      ending.stream.end()
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(ending.exchange.cut)
    }))

  it.scoped("writes a long text in pieces, as fast as the reader takes them, and breaks no character", () =>
    Effect.gen(function*() {
      const { exchange, stream } = yield* open({ keepAlive: Infinity })
      const text = `x${"😀".repeat(PIECE * 1.5)}`
      const pieces: Array<string> = []
      exchange.stalled = true
      stream.push(text)
      stream.end()
      while (!exchange.ended) {
        pieces.push(exchange.text.slice(pieces.join("").length))
        yield* TestClock.adjust("20 seconds")
        exchange.reader!.drained()
      }
      assert.strictEqual(pieces.length, 3)
      // It throws at half a surrogate pair.
      pieces.forEach(encodeURI)
      assert.strictEqual(exchange.text, text)
      assert.deepStrictEqual([stream.held, exchange.cut], [0, false])
    }))

  it.scoped("is full when the texts that wait are too long, and takes a response nevertheless", () =>
    Effect.gen(function*() {
      const { exchange, stream } = yield* open({ limits: ResolvedLimits.ofHttp({ maxQueued: 100_000 }) })
      exchange.stalled = true
      stream.push("x".repeat(60_000))
      assert.isFalse(stream.isFull)
      stream.push("y".repeat(60_000))
      assert.isTrue(stream.isFull)
      const waiting = yield* Effect.fork(stream.space)
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      assert.isTrue(stream.push("response"))
      exchange.reader!.drained()
      yield* Fiber.join(waiting)
    }))

  it.scoped("cuts the reader that took nothing for the longest time when all hold too much", () =>
    Effect.gen(function*() {
      const unsent = new UnsentText(250_000)
      const slow = yield* open({}, unsent)
      slow.exchange.stalled = true
      slow.stream.push("x".repeat(100_000))
      yield* TestClock.adjust("1 second")
      const second = yield* open({}, unsent)
      second.exchange.stalled = true
      second.stream.push("x".repeat(100_000))
      assert.deepStrictEqual([unsent.size, slow.stream.isClosed], [200_000, false])
      second.stream.push("x".repeat(100_000))
      assert.deepStrictEqual([slow.exchange.cut, second.exchange.cut, unsent.size], [true, false, 200_000])
      second.stream.push("x".repeat(100_000))
      assert.deepStrictEqual([second.exchange.cut, unsent.size], [true, 0])
    }))
})
