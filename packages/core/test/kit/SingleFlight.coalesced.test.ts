import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { coalesced } from "../../src/kit/SingleFlight.js"

/** Stores a number that grows; each write waits until it is let go, with its outcome. */
const make = Effect.gen(function*() {
  const state = { now: 0, stored: [] as Array<number>, writing: 0 }
  const waiting: Array<(outcome: Effect.Effect<void, string>) => void> = []
  const store = coalesced(Effect.suspend(() => {
    const { now } = state
    state.writing++
    return Effect.zipRight(
      Effect.async<void, string>((resume) => void waiting.push(resume)),
      Effect.sync((): void => void state.stored.push(now))
    )
  }))
  const change = Effect.zipLeft(Effect.fork(Effect.zipRight(Effect.sync(() => state.now++), store)), turns)
  const letGo = (outcome: Effect.Effect<void, string> = Effect.void) =>
    Effect.zipRight(Effect.sync(() => waiting.shift()!(outcome)), turns)
  return { state, change, letGo }
})

const turns = Effect.repeatN(Effect.yieldNow(), 20)

describe("a state that is stored", () => {
  it.effect("is stored anew for those that change it while it is stored, once for all of them", () =>
    Effect.gen(function*() {
      const { change, letGo, state } = yield* make
      const all = [yield* change, yield* change, yield* change]
      assert.strictEqual(state.writing, 1)
      yield* letGo()
      assert.strictEqual(state.writing, 2)
      yield* letGo()
      yield* Fiber.joinAll(all)
      assert.deepStrictEqual(state.stored, [1, 3])
      const last = yield* change
      yield* letGo()
      yield* Fiber.join(last)
      assert.deepStrictEqual(state.stored, [1, 3, 4])
    }))

  it.effect("is not stored for any of those that share a write that fails", () =>
    Effect.gen(function*() {
      const { change, letGo, state } = yield* make
      const all = [yield* change, yield* change, yield* change]
      yield* letGo()
      yield* letGo(Effect.fail("away"))
      const exits = yield* Effect.forEach(all, Fiber.await)
      assert.deepStrictEqual(exits, [Exit.void, Exit.fail("away"), Exit.fail("away")])
      assert.strictEqual(state.writing, 2)
    }))

  it.effect("is stored by the next one when the one that stores it is interrupted", () =>
    Effect.gen(function*() {
      const { change, letGo, state } = yield* make
      const [first, second, third] = [yield* change, yield* change, yield* change]
      yield* letGo()
      yield* Fiber.interrupt(second)
      yield* turns
      assert.strictEqual(state.writing, 3)
      yield* letGo()
      yield* letGo()
      yield* Effect.all([Fiber.join(first), Fiber.join(third)])
      assert.deepStrictEqual(state.stored, [1, 3])
    }))

  it.effect("is stored for each change that was not interrupted, wherever the others are", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 8; turns++) {
        yield* preempted(
          Effect.gen(function*() {
            let now = 0
            let stored = 0
            let writing = 0
            const store = coalesced(Effect.acquireUseRelease(
              Effect.sync(() => assert.strictEqual(++writing, 1)),
              () =>
                Effect.flatMap(
                  Effect.sync(() => now),
                  (state) => Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 2), Effect.sync(() => stored = state))
                ),
              () => Effect.sync(() => writing--)
            ))
            const change = Effect.flatMap(
              Effect.sync(() => ++now),
              (own) => Effect.zipRight(store, Effect.sync(() => assert.isAtLeast(stored, own)))
            )
            const fibers = yield* Effect.replicateEffect(Effect.forkDaemon(change), 5)
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            yield* Effect.forEach([fibers[0]!, fibers[2]!], Fiber.interruptFork)
            const exits = yield* Effect.forEach(fibers, Fiber.await)
            for (const at of [1, 3, 4]) assert.isTrue(Exit.isSuccess(exits[at]!))
            yield* change
          }),
          { runs: 40 }
        )
      }
    }))
})
