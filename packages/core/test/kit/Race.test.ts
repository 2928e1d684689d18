import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { all, raceFirst } from "../../src/kit/Race.js"

describe("Race.raceFirst", () => {
  it.effect("ends when it is interrupted between any two of its steps", () =>
    preempted(Effect.gen(function*() {
      let running = 0
      const endless = Effect.acquireUseRelease(Effect.sync(() => running++), () =>
        Effect.never, () =>
        Effect.sync(() => running--))
      const racing = yield* Effect.forkDaemon(raceFirst(endless, endless))
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(racing)))
      assert.strictEqual(running, 0)
    })))

  it.effect("has the exit of the effect that ends first", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* raceFirst(Effect.never, Effect.succeed(1)), 1)
      assert.strictEqual(yield* Effect.flip(raceFirst(Effect.fail("no"), Effect.never)), "no")
    }))
})

describe("Race.all", () => {
  it.effect("ends when it is interrupted between any two of its steps", () =>
    preempted(Effect.gen(function*() {
      let running = 0
      const endless = Effect.acquireUseRelease(Effect.sync(() => running++), () =>
        Effect.never, () =>
        Effect.sync(() => running--))
      const waiting = yield* Effect.forkDaemon(all([endless, endless, endless]))
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
      assert.strictEqual(running, 0)
    })))

  it.effect("ends when it is interrupted between any two of its steps while some wait for others", () =>
    preempted(Effect.gen(function*() {
      let running = 0
      const endless = Effect.acquireUseRelease(
        Effect.sync(() => running++),
        () => Effect.never,
        () => Effect.sync(() => running--)
      )
      const waiting = yield* Effect.forkDaemon(all<void, never, never>([Effect.void, endless, endless, endless], 2))
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
      assert.strictEqual(running, 0)
    })))

  it.effect("runs no more at the same time than the limit", () =>
    Effect.gen(function*() {
      let running = 0
      let most = 0
      const one = (n: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => most = Math.max(most, ++running)),
          () => Effect.as(Effect.yieldNow(), n),
          () => Effect.sync(() => running--)
        )
      assert.deepStrictEqual(yield* all([1, 2, 3, 4, 5].map(one), 2), [1, 2, 3, 4, 5])
      assert.strictEqual(most, 2)
      assert.deepStrictEqual(yield* all<never, never, never>([], 2), [])
    }))

  it.effect("runs a chain of 20,000, one after the other", () =>
    Effect.gen(function*() {
      const values = yield* all(Array.from({ length: 20_000 }, (_, n) => Effect.succeed(n)), 1)
      assert.strictEqual(values[19_999], 19_999)
    }))

  it.effect("has the values in order, or the first failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* all([Effect.as(Effect.yieldNow(), 1), Effect.succeed(2)]), [1, 2])
      assert.strictEqual(yield* Effect.flip(all([Effect.never, Effect.fail("no")])), "no")
    }))
})
