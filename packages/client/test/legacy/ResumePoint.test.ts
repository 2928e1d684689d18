import { assert, describe, it } from "@effect/vitest"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import { Effect, Fiber, Schedule, TestClock } from "effect"
import { ResumePoint } from "../../src/legacy/ResumePoint.js"

/** How many milliseconds it pauses; nothing when the schedule has ended. */
const paused = (pause: Effect.Effect<void, void>) =>
  Effect.gen(function*() {
    const began = yield* TestClock.currentTimeMillis
    const pausing = yield* Effect.fork(Effect.isSuccess(pause))
    yield* Effect.repeat(TestClock.adjust(50), {
      until: () => Effect.map(Fiber.poll(pausing), ({ _tag }) => _tag === "Some")
    })
    const ended = (yield* TestClock.currentTimeMillis) - began
    return (yield* Fiber.join(pausing)) ? ended : undefined
  })

describe("Cursor", () => {
  it("remembers the last id and the last retry, within bounds", () => {
    const cursor = new ResumePoint()
    cursor.take({ id: "1", retry: 500 })
    cursor.take({ data: "x" })
    assert.deepInclude(cursor, { lastEventId: "1", retry: 500 })
    cursor.take({ id: "2", retry: 0 })
    assert.deepInclude(cursor, { lastEventId: "2", retry: 100 })
    cursor.take({ retry: 1e15 })
    assert.deepInclude(cursor, { lastEventId: "2", retry: 60_000 })
    cursor.take(new Sse.TooLarge(1))
    assert.deepInclude(cursor, { lastEventId: "2" })
  })

  it("has nothing to come back with after an empty id, or one that no header holds", () => {
    for (const id of ["", "ä", "a\tb", "x".repeat(4097)]) {
      const cursor = new ResumePoint()
      cursor.take({ id: "1" })
      cursor.take({ id })
      assert.isUndefined(cursor.lastEventId, id)
    }
  })

  it.effect("pauses as the schedule says, and begins anew after an event", () =>
    Effect.gen(function*() {
      const cursor = new ResumePoint()
      const pause = yield* cursor.pauses(Schedule.exponential("200 millis"))
      for (const wait of [200, 400, 800]) assert.strictEqual(yield* paused(pause), wait)
      assert.strictEqual(cursor.fruitless, 3)
      cursor.take({ data: "" })
      for (const wait of [200, 400]) assert.strictEqual(yield* paused(pause), wait)
    }))

  it.effect("MUST pause as long as the server asks for, and longer when that does not help", () =>
    Effect.gen(function*() {
      const cursor = new ResumePoint()
      cursor.take({ retry: 300 })
      const pause = yield* cursor.pauses(Schedule.exponential("200 millis"))
      for (const wait of [300, 400, 800]) assert.strictEqual(yield* paused(pause), wait)
      cursor.take({ retry: 1_000 })
      for (const wait of [1_000, 1_000, 1_000, 1_600]) assert.strictEqual(yield* paused(pause), wait)
    }))

  it.effect("never pauses for less than 100 milliseconds, and ends with the schedule", () =>
    Effect.gen(function*() {
      const pause = yield* new ResumePoint().pauses(Schedule.recurs(2))
      assert.deepStrictEqual([yield* paused(pause), yield* paused(pause), yield* paused(pause)], [100, 100, undefined])
    }))
})
