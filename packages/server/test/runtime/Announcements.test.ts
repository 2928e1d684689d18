import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { Announcements, MAX_WAITING } from "../../src/runtime/Announcements.js"

describe("Announcements", () => {
  it.effect("drops the oldest notification when too many different ones wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const announcements = new Announcements()
      const sent: Array<number> = []
      for (let n = 0; n < MAX_WAITING + 3; n++) {
        yield* announcements.announce(String(n), Effect.zipRight(Deferred.await(gate), Effect.sync(() => sent.push(n))))
      }
      yield* Deferred.succeed(gate, undefined)
      yield* announcements.stop()
      yield* Effect.yieldNow()
      assert.deepStrictEqual([sent.length, Math.min(...sent), Math.max(...sent)], [MAX_WAITING, 3, MAX_WAITING + 2])
    }))

  it.effect("waits for a notification that cannot be interrupted no longer than the limit", () =>
    Effect.gen(function*() {
      const announcements = new Announcements()
      yield* announcements.announce("a", Effect.uninterruptible(Effect.never))
      yield* Effect.yieldNow()
      const stopping = yield* Effect.fork(announcements.stop("3 seconds"))
      yield* TestClock.adjust("2 seconds")
      assert.isNull(stopping.unsafePoll())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stopping)
    }))
})
