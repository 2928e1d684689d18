import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { Announcements, MAX_WAITING } from "../../src/runtime/Announcements.js"

describe("Announcements", () => {
  it.effect("drops the oldest notification when too many different ones wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const last = yield* Deferred.make<void>()
      const announcements = new Announcements()
      const sent: Array<number> = []
      for (let n = 0; n < MAX_WAITING + 3; n++) {
        const isLast = n === MAX_WAITING + 2
        yield* announcements.announce(
          String(n),
          Deferred.await(gate).pipe(
            Effect.zipRight(Effect.sync(() => sent.push(n))),
            Effect.zipRight(isLast ? Deferred.succeed(last, undefined) : Effect.void)
          )
        )
      }
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(last)
      assert.strictEqual(sent.at(-1), MAX_WAITING + 2)
      assert.strictEqual(sent.length - MAX_WAITING, sent[0] === 0 ? 1 : 0)
      assert.notInclude(sent, 2)
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
