import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, TestClock } from "effect"
import * as Wait from "../../src/subprocess/Wait.js"

describe("Wait", () => {
  it.effect("gives what comes in time", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Wait.atMost(Effect.succeed(1), "1 second"), Option.some(1))
      assert.strictEqual(yield* Effect.flip(Wait.atMost(Effect.fail("no"), "1 second")), "no")
    }))

  it.effect("waits no longer than it is told, and interrupts what it waited for", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Wait.atMost(Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)), "1 second")
      )
      yield* TestClock.adjust("999 millis")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
      yield* Deferred.await(interrupted)
    }))

  it.effect("is not cut short when who waits is interrupted", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const seen: Array<string> = []
      const fiber = yield* Effect.fork(
        Effect.uninterruptible(Effect.tap(
          Wait.atMost(Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(go)), "1 second"),
          () => seen.push("waited")
        ))
      )
      yield* Deferred.await(started)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(seen, [])
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(seen, ["waited"])
    }))
})
