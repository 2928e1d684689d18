import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { all, raceFirst } from "../../src/runtime/Race.js"
import { preempted } from "../ScriptedPeer.js"

describe("raceFirst", () => {
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

describe("all", () => {
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

  it.effect("has the values in order, or the first failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* all([Effect.as(Effect.yieldNow(), 1), Effect.succeed(2)]), [1, 2])
      assert.strictEqual(yield* Effect.flip(all([Effect.never, Effect.fail("no")])), "no")
    }))
})
