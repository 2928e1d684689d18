import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
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

  it.live("are no longer counted when they have ended, at whichever step they were interrupted", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 3; turns++) {
        yield* preempted(Effect.gen(function*() {
          const run = Attempt.make(5000, 1)
          const waiting = yield* Effect.forkDaemon(run("store", Effect.never))
          yield* Effect.repeatN(Effect.yieldNow(), turns)
          yield* Fiber.interruptFork(waiting)
          yield* Effect.repeatN(Effect.yieldNow(), 30)
          // A timeout that is interrupted in the step before it starts does not end.
          if (Option.isSome(yield* Fiber.poll(waiting))) yield* run("store", Effect.void)
        }))
      }
    }))
})
