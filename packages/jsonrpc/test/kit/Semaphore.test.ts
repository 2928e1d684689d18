import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Semaphore from "../../src/kit/Semaphore.js"

describe("A semaphore", () => {
  it.effect("runs effects in the order in which they came", () =>
    Effect.gen(function*() {
      const semaphore = Semaphore.make()
      const order: Array<number> = []
      yield* Effect.forEach([1, 2, 3, 4], (n) =>
        semaphore.run(Effect.zipRight(Effect.yieldNow(), Effect.sync(() => order.push(n)))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(order, [1, 2, 3, 4])
    }))

  it.effect("is free after a failure", () =>
    Effect.gen(function*() {
      const semaphore = Semaphore.make()
      assert.strictEqual(yield* Effect.flip(semaphore.run(Effect.fail("no"))), "no")
      assert.strictEqual(yield* semaphore.run(Effect.succeed(1)), 1)
    }))

  it.effect("runs a chain of 20,000 waiters, though some are interrupted", () =>
    Effect.gen(function*() {
      const semaphore = Semaphore.make()
      const latch = yield* Deferred.make<void>()
      let ran = 0
      const first = yield* Effect.fork(semaphore.run(Deferred.await(latch)))
      yield* Effect.yieldNow()
      const waiting = yield* Effect.replicateEffect(Effect.fork(semaphore.run(Effect.sync(() => ran++))), 20_000)
      yield* Effect.yieldNow({ priority: 10 })
      yield* Fiber.interruptAll(waiting.slice(0, 5_000))
      assert.strictEqual(ran, 0)
      yield* Deferred.succeed(latch, undefined)
      yield* Fiber.join(first)
      for (const fiber of waiting.slice(5_000)) yield* Fiber.join(fiber)
      assert.strictEqual(ran, 15_000)
    }))
})
