import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as EffectInternals from "../../src/kit/EffectInternals.js"

describe("EffectInternals", () => {
  it.effect("gives services for fibers that can be interrupted, also where nothing can", () =>
    leavesNothing(Effect.gen(function*() {
      const services = yield* Effect.uninterruptible(EffectInternals.services)
      const fiber = EffectInternals.runFork(services, Effect.never)
      assert.isUndefined(EffectInternals.exitOf(fiber))
      EffectInternals.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      assert.isDefined(EffectInternals.exitOf(fiber))
    })))

  it.effect("runs the first steps at once, or when other fibers have had their turn", () =>
    Effect.gen(function*() {
      const services = yield* EffectInternals.services
      const steps: Array<string> = []
      const step = (name: string) => Effect.sync(() => steps.push(name))
      const later = EffectInternals.runForkLater(services, step("later"))
      EffectInternals.runFork(services, step("at once"))
      assert.deepStrictEqual(steps, ["at once"])
      yield* Fiber.await(later)
      assert.deepStrictEqual(steps, ["at once", "later"])
    }))

  it.effect("wakes a chain of 20,000 waiters, each by the one before it", () =>
    Effect.gen(function*() {
      const links = Array.from({ length: 20_001 }, () => EffectInternals.deferred())
      const waiting = yield* Effect.forEach(links.slice(1), (link, n) =>
        Effect.fork(Effect.map(Deferred.await(links[n]!), () => EffectInternals.done(link, Effect.void))))
      yield* Effect.yieldNow({ priority: 10 })
      EffectInternals.done(links[0]!, Effect.void)
      yield* Deferred.await(links.at(-1)!)
      yield* Fiber.joinAll(waiting)
    }))

  it.effect("runs a task when the code that runs now has returned", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      EffectInternals.later(() => order.push("later"))
      order.push("now")
      yield* Effect.promise(() => Promise.resolve())
      assert.deepStrictEqual(order, ["now", "later"])
    }))

  it.effect("completes what waits for the end of a fiber when what that fiber does at its end is done", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Effect.gen(function*() {
        yield* Deferred.await(gate)
        const ended = yield* EffectInternals.ended
        yield* Effect.forkDaemon(Effect.map(Deferred.await(ended), () => order.push("woken")))
        yield* Effect.repeatN(Effect.yieldNow(), 3)
      }))
      fiber.addObserver(() => order.push("observed"))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => order.length === 2 })
      assert.deepStrictEqual(order, ["observed", "woken"])
    }))

  it.effect("opens and closes a latch", () =>
    Effect.gen(function*() {
      const latch = EffectInternals.latch()
      const waiting = yield* Effect.fork(latch.await)
      yield* Effect.yieldNow()
      assert.isUndefined(EffectInternals.exitOf(waiting))
      EffectInternals.open(latch)
      yield* Fiber.join(waiting)
      EffectInternals.close(latch)
      assert.isUndefined(EffectInternals.exitOf(yield* Effect.fork(latch.await)))
    }))

  it.effect("makes scopes that close with another one, one after another or all at once", () =>
    Effect.gen(function*() {
      for (const [finalizers, most] of [["sequential", 1], ["parallel", 2]] as const) {
        const parent = yield* Scope.make()
        const child = yield* EffectInternals.childOf(parent, finalizers)
        let running = 0
        let highest = 0
        const finalizer = Effect.acquireUseRelease(
          Effect.sync(() => highest = Math.max(highest, ++running)),
          () => Effect.repeatN(Effect.yieldNow(), 3),
          () => Effect.sync(() => running--)
        )
        for (let n = 0; n < 2; n++) yield* Scope.addFinalizer(child, finalizer)
        yield* Scope.close(parent, Exit.void)
        assert.strictEqual(highest, most)
      }
    }))

  it("has the services of a context by their keys", () => {
    const Name = Context.GenericTag<string>("Name")
    const entries = EffectInternals.entries(Context.make(Name, "a"))
    assert.deepStrictEqual([...entries], [["Name", "a"]])
    assert.strictEqual(Context.get(EffectInternals.contextOf<string>(new Map(entries)), Name), "a")
  })
})

describe("The values of a fiber that differ", () => {
  it.effect("are those that code has given to the fiber, whether it can be interrupted or not", () =>
    Effect.gen(function*() {
      const before = yield* EffectInternals.currentServices()
      const changed = Effect.withFiberRuntime<number>((fiber) =>
        Effect.succeed(EffectInternals.changedValues(before, fiber)?.length ?? 0)
      )
      assert.strictEqual(yield* Effect.uninterruptible(changed), 0)
      assert.strictEqual(yield* Fiber.join(yield* Effect.forkDaemon(changed)), 0)
    }))
})
