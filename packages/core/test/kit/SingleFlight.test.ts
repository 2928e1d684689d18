import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as SingleFlight from "../../src/kit/SingleFlight.js"

const make = Effect.map(Effect.scope, (scope) => SingleFlight.make<number, string>(scope))

describe("A run that several callers share", () => {
  it.scoped("runs once for all that wait for it, and again for the next", () =>
    Effect.gen(function*() {
      const run = yield* make
      const latch = yield* Deferred.make<void>()
      let runs = 0
      const effect = Effect.suspend(() => {
        const nth = ++runs
        return Effect.as(Deferred.await(latch), nth)
      })
      const fibers = yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.fork(run.join(effect)))
      yield* Effect.yieldNow({ priority: 10 })
      assert.isTrue(run.isRunning())
      yield* Deferred.succeed(latch, undefined)
      for (const fiber of fibers) assert.strictEqual(yield* Fiber.join(fiber), 1)
      assert.isFalse(run.isRunning())
      assert.strictEqual(yield* run.join(effect), 2)
    }))

  it.scoped("gives its failure to all that wait for it", () =>
    Effect.gen(function*() {
      const run = yield* make
      const latch = yield* Deferred.make<void>()
      const failing = Effect.zipRight(Deferred.await(latch), Effect.fail("no"))
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(Effect.flip(run.join(failing))))
      yield* Effect.yieldNow({ priority: 10 })
      yield* Deferred.succeed(latch, undefined)
      for (const fiber of fibers) assert.strictEqual(yield* Fiber.join(fiber), "no")
    }))

  it.scoped("goes on while one caller waits, and is interrupted with the last", () =>
    Effect.gen(function*() {
      const run = yield* make
      const began = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const endless = Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      const observed = Effect.onInterrupt(endless, () => Deferred.succeed(ended, undefined))
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(run.join(observed)))
      yield* Deferred.await(began)
      for (const fiber of fibers.slice(0, 2)) yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* Fiber.interrupt(fibers[2]!)
      yield* Deferred.await(ended)
      // A run that is being interrupted takes no caller.
      assert.strictEqual(yield* run.join(Effect.succeed(7)), 7)
    }))

  it.scoped("is replaced by another, which begins when it has ended, and its callers fail", () =>
    Effect.gen(function*() {
      const run = yield* make
      const log: Array<string> = []
      const first = Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("first ended")))
      const fibers = yield* Effect.forEach([1, 2], () => Effect.fork(Effect.flip(run.join(first))))
      yield* Effect.yieldNow({ priority: 10 })
      const second = Effect.as(Effect.sync(() => log.push("second")), 2)
      assert.strictEqual(yield* run.replace("replaced", second), 2)
      for (const fiber of fibers) assert.strictEqual(yield* Fiber.join(fiber), "replaced")
      assert.deepStrictEqual(log, ["first ended", "second"])
      assert.strictEqual(yield* run.replace("replaced", second), 2)
      assert.isFalse(run.isRunning())
    }))

  it.effect("is interrupted when its scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const run = SingleFlight.make<number, string>(scope)
      const fiber = yield* Effect.fork(run.join(Effect.never))
      yield* Effect.yieldNow({ priority: 10 })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
    }))

  it.effect("fails for its callers when its scope closes and has an error for that, and for those that come later", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const run = SingleFlight.make<number, string>(scope, "closed")
      const fiber = yield* Effect.fork(Effect.flip(run.join(Effect.never)))
      yield* Effect.yieldNow({ priority: 10 })
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(fiber), "closed")
      assert.strictEqual(yield* Effect.flip(run.join(Effect.never)), "closed")
      assert.strictEqual(yield* Effect.flip(run.replace("replaced", Effect.never)), "closed")
    }))

  it.effect("has ended when its last caller is interrupted and it has no scope", () =>
    Effect.gen(function*() {
      const run = SingleFlight.make<number, string>()
      let ended = false
      const begun = yield* Deferred.make<void>()
      const endless = Effect.onInterrupt(
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
        () => Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 5), Effect.sync(() => ended = true))
      )
      const fibers = yield* Effect.replicateEffect(Effect.fork(run.join(endless)), 2)
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fibers[0]!)
      assert.isFalse(ended)
      yield* Fiber.interrupt(fibers[1]!)
      assert.isTrue(ended)
    }))

  it.effect("gives its exit to a chain of 20,000 callers, though some are interrupted", () =>
    Effect.gen(function*() {
      const run = SingleFlight.make<number, string>()
      const latch = yield* Deferred.make<number>()
      const fibers = yield* Effect.replicateEffect(Effect.fork(run.join(Deferred.await(latch))), 20_000)
      yield* Effect.yieldNow({ priority: 10 })
      yield* Fiber.interruptAll(fibers.slice(0, 5_000))
      yield* Deferred.succeed(latch, 7)
      for (const fiber of fibers.slice(5_000)) assert.strictEqual(yield* Fiber.join(fiber), 7)
    }))

  for (const how of ["join", "replace"] as const) {
    it.effect(`leaves nothing when callers that ${how} are interrupted between any two of its steps`, () =>
      Effect.forEach([0, 1, 2, 3, 5, 8], (turns) =>
        preempted(
          Effect.scoped(Effect.gen(function*() {
            const run = SingleFlight.make<number, string>(turns % 2 === 0 ? undefined : yield* Effect.scope)
            let running = 0
            const effect = Effect.acquireUseRelease(
              Effect.sync(() => running++),
              () => Effect.as(Effect.repeatN(Effect.yieldNow(), 3), 7),
              () => Effect.sync(() => running--)
            )
            const caller = how === "join" ? run.join(effect) : run.replace("replaced", effect)
            const fibers = yield* Effect.replicateEffect(Effect.forkDaemon(caller), 5)
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            yield* Effect.forEach([fibers[0]!, fibers[2]!], Fiber.interruptFork)
            const exits = yield* Effect.forEach(fibers, Fiber.await)
            for (const at of how === "join" ? [1, 3, 4] : [4]) assert.deepStrictEqual(exits[at], Exit.succeed(7))
            if (how === "replace") {
              assert.include([Exit.succeed(7), Exit.fail("replaced")].map(String), String(exits[1]))
            }
            assert.strictEqual(yield* run.join(effect), 7)
            yield* Effect.repeatN(Effect.yieldNow(), 20)
            assert.strictEqual(running, 0)
            assert.isFalse(run.isRunning())
          })),
          { runs: 60 }
        ), { discard: true }))
  }
})
