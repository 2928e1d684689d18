import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as EventStream from "../../src/http/EventStream.js"
import * as Sweeper from "../../src/http/Sweeper.js"
import { Visit } from "./Visit.js"

const open = (options: Partial<EventStream.Options> = {}) =>
  Effect.gen(function*() {
    const visit = new Visit("GET", "/mcp", {})
    const sweeper = yield* Sweeper.make
    const closed: Array<ReadonlyArray<string>> = []
    const stream = new EventStream.EventStream(visit, {
      sweeper,
      keepAlive: 15_000,
      stallTimeout: 30_000,
      capacity: 4,
      onClose: (unsent) => closed.push(unsent),
      ...options
    })
    return { closed, stream, sweeper, visit }
  })

describe("EventStream", () => {
  it.scoped("begins with headers that keep proxies from holding it up", () =>
    Effect.gen(function*() {
      const { visit } = yield* open({ headers: { "mcp-session-id": "s" } })
      assert.strictEqual(visit.status, 200)
      assert.deepStrictEqual(visit.sent, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "mcp-session-id": "s"
      })
    }))

  it.scoped("writes at once, in order, while the reader reads", () =>
    Effect.gen(function*() {
      const { stream, visit } = yield* open()
      for (const text of ["a", "b", "c"]) assert.isTrue(stream.push(text))
      assert.strictEqual(visit.text, "abc")
    }))

  it.scoped("buffers what the reader does not take, and suspends senders that can wait", () =>
    Effect.gen(function*() {
      const { stream, visit } = yield* open()
      visit.stalled = true
      for (const text of ["a", "b", "c", "d", "e"]) stream.push(text)
      assert.strictEqual(visit.text, "a")
      assert.isTrue(stream.isFull)
      const waiting = yield* Effect.fork(stream.space)
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      // A sender that cannot wait adds its event nevertheless.
      assert.isTrue(stream.push("f"))
      assert.isFalse(stream.isFlowing)
      const { flushes } = stream
      visit.drain()
      yield* Fiber.join(waiting)
      assert.strictEqual(visit.text, "abcdef")
      assert.deepStrictEqual([stream.isFlowing, stream.flushes], [true, flushes + 1])
    }))

  it.scoped("ends after what waits, once", () =>
    Effect.gen(function*() {
      const { closed, stream, sweeper, visit } = yield* open()
      visit.stalled = true
      stream.push("a")
      stream.push("b")
      stream.end()
      assert.isFalse(stream.push("c"))
      assert.isFalse(visit.ended)
      visit.drain()
      assert.isTrue(visit.ended)
      assert.isFalse(visit.cut)
      assert.strictEqual(visit.text, "ab")
      stream.end()
      stream.gone()
      assert.deepStrictEqual(closed, [[]])
      assert.strictEqual(sweeper.size, 0)
    }))

  it.scoped("returns the unwritten events when the reader disconnects", () =>
    Effect.gen(function*() {
      const { closed, stream, visit } = yield* open()
      visit.stalled = true
      for (const text of ["a", "b", "c"]) stream.push(text)
      const waiting = yield* Effect.fork(stream.space)
      visit.hangUp()
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(closed, [["b", "c"]])
      assert.isTrue(stream.isClosed)
      assert.isFalse(stream.push("d"))
    }))

  it.scoped("comments when it was silent for long, and only then", () =>
    Effect.gen(function*() {
      const { stream, visit } = yield* open()
      yield* TestClock.adjust("14 seconds")
      stream.push("a")
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(visit.text, "a")
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(visit.text, "a: \n\n")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(visit.text, "a" + ": \n\n".repeat(5))
    }))

  it.scoped("does not comment when it is not to", () =>
    Effect.gen(function*() {
      const { visit } = yield* open({ keepAlive: Infinity, stallTimeout: Infinity })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(visit.text, "")
      visit.hangUp()
    }))

  it.scoped("cuts off a reader that has taken nothing for long", () =>
    Effect.gen(function*() {
      const { closed, stream, visit } = yield* open()
      visit.stalled = true
      stream.push("a")
      stream.push("b")
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(visit.cut)
      // A reader that takes something gets the whole time again.
      visit.reader!.drained()
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(visit.cut)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(visit.cut)
      assert.deepStrictEqual(closed, [[]])
    }))

  it.scoped("cuts off a reader that does not even take comments, and one that keeps it from ending", () =>
    Effect.gen(function*() {
      const silent = yield* open()
      silent.visit.stalled = true
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(silent.visit.text, ": \n\n")
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(silent.visit.cut)
      const ending = yield* open()
      ending.visit.stalled = true
      ending.stream.push("a")
      ending.stream.end()
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(ending.visit.cut)
    }))
})
