import { assert, describe, it } from "@effect/vitest"
import { preempted } from "@effect-mcp/testing/unstable/Preempted"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Semaphore from "../../src/runtime/Semaphore.js"

describe("A semaphore", () => {
  for (const interrupted of ["the one that runs", "one that waits", "both"] as const) {
    it.effect(`is free again when fibers are interrupted between any two of their steps: ${interrupted}`, () =>
      Effect.gen(function*() {
        for (let turns = 0; turns < 8; turns++) {
          yield* preempted(Effect.gen(function*() {
            const semaphore = Semaphore.make()
            let running = 0
            const work = semaphore.run(Effect.acquireUseRelease(
              Effect.sync(() => assert.strictEqual(++running, 1)),
              () => Effect.repeatN(Effect.yieldNow(), 3),
              () => Effect.sync(() => running--)
            ))
            const first = yield* Effect.forkDaemon(work)
            const second = yield* Effect.forkDaemon(work)
            const third = yield* Effect.forkDaemon(work)
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            if (interrupted !== "one that waits") yield* Fiber.interruptFork(first)
            if (interrupted !== "the one that runs") yield* Fiber.interruptFork(second)
            assert.isTrue(Exit.isSuccess(yield* Fiber.await(third)))
            yield* Fiber.awaitAll([first, second])
            assert.strictEqual(yield* semaphore.run(Effect.succeed(1)), 1)
          }))
        }
      }))
  }

  it.effect("loses none of several permits when fibers are interrupted, and runs no more effects at a time", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 8; turns++) {
        yield* preempted(
          Effect.gen(function*() {
            const semaphore = Semaphore.make(2)
            let running = 0
            const work = semaphore.run(Effect.acquireUseRelease(
              Effect.sync(() => assert.isAtMost(++running, 2)),
              () => Effect.repeatN(Effect.yieldNow(), 2),
              () => Effect.sync(() => running--)
            ))
            const fibers = yield* Effect.replicateEffect(Effect.forkDaemon(work), 6)
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            yield* Effect.forEach([fibers[0]!, fibers[2]!, fibers[3]!], Fiber.interruptFork)
            const exits = yield* Effect.forEach(fibers, Fiber.await)
            for (const at of [1, 4, 5]) assert.isTrue(Exit.isSuccess(exits[at]!))
            const gate = yield* Deferred.make<void>()
            const holding = yield* Effect.forkDaemon(semaphore.run(Deferred.await(gate)))
            yield* Effect.yieldNow()
            assert.strictEqual(yield* semaphore.run(Effect.succeed(1)), 1)
            yield* Deferred.succeed(gate, undefined)
            yield* Fiber.join(holding)
          }),
          { runs: 40 }
        )
      }
    }))

  it.effect("runs as many effects at a time as it has permits", () =>
    Effect.gen(function*() {
      const semaphore = Semaphore.make(2)
      let running = 0
      let most = 0
      const work = Effect.acquireUseRelease(
        Effect.sync(() => {
          most = Math.max(most, ++running)
        }),
        () => Effect.yieldNow(),
        () => Effect.sync(() => running--)
      )
      yield* Effect.forEach([1, 2, 3, 4, 5], () => semaphore.run(work), { concurrency: "unbounded" })
      assert.deepStrictEqual([most, running], [2, 0])
    }))

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
