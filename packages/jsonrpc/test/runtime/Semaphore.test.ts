import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Semaphore from "../../src/runtime/Semaphore.js"

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
})
