import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Attempt from "../../src/connection/Attempt.js"

describe("statements that wait for the database", () => {
  it.scopedLive("are refused when there are too many", () =>
    Effect.gen(function*() {
      const run = Attempt.make(60_000, 3)
      const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.fork(run("store", Effect.never)))
      yield* Effect.yieldNow()
      const { message } = yield* Effect.flip(run("store", Effect.void))
      assert.strictEqual(message, "The database did not store: 3 statements wait for it")
      yield* Fiber.interruptAll(waiting)
      yield* run("store", Effect.void)
    }))
})
