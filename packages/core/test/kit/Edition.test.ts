import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import * as Edition from "../../src/kit/Edition.js"

describe("Edition", () => {
  it.effect("gives services for fibers that can be interrupted, also where nothing can", () =>
    leavesNothing(Effect.gen(function*() {
      const services = yield* Effect.uninterruptible(Edition.services)
      const fiber = Edition.runFork(services, Effect.never)
      assert.isUndefined(Edition.exitOf(fiber))
      Edition.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
      assert.isDefined(Edition.exitOf(fiber))
    })))

  it.effect("runs the first steps at once, or when other fibers have had their turn", () =>
    Effect.gen(function*() {
      const services = yield* Edition.services
      const steps: Array<string> = []
      const step = (name: string) => Effect.sync(() => steps.push(name))
      const later = Edition.runForkLater(services, step("later"))
      Edition.runFork(services, step("at once"))
      assert.deepStrictEqual(steps, ["at once"])
      yield* Fiber.await(later)
      assert.deepStrictEqual(steps, ["at once", "later"])
    }))

  it.effect("wakes a chain of 20,000 waiters, each by the one before it", () =>
    Effect.gen(function*() {
      const links = Array.from({ length: 20_001 }, () => Edition.deferred())
      const waiting = yield* Effect.forEach(links.slice(1), (link, n) =>
        Effect.fork(Effect.map(Deferred.await(links[n]!), () => Edition.done(link, Effect.void))))
      yield* Effect.yieldNow({ priority: 10 })
      Edition.done(links[0]!, Effect.void)
      yield* Deferred.await(links.at(-1)!)
      yield* Fiber.joinAll(waiting)
    }))

  it.effect("opens and closes a latch", () =>
    Effect.gen(function*() {
      const latch = Edition.latch()
      const waiting = yield* Effect.fork(latch.await)
      yield* Effect.yieldNow()
      assert.isUndefined(Edition.exitOf(waiting))
      Edition.open(latch)
      yield* Fiber.join(waiting)
      Edition.close(latch)
      assert.isUndefined(Edition.exitOf(yield* Effect.fork(latch.await)))
    }))

  it.effect("makes scopes that close with another one, one after another or all at once", () =>
    Effect.gen(function*() {
      for (const [finalizers, most] of [["sequential", 1], ["parallel", 2]] as const) {
        const parent = yield* Scope.make()
        const child = yield* Edition.childOf(parent, finalizers)
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
    const entries = Edition.entries(Context.make(Name, "a"))
    assert.deepStrictEqual([...entries], [["Name", "a"]])
    assert.strictEqual(Context.get(Edition.contextOf<string>(new Map(entries)), Name), "a")
  })
})
