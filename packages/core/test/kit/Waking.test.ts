import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as EventLoop from "../../src/kit/EventLoop.js"
import * as Outbox from "../../src/kit/Outbox.js"
import * as SingleFlight from "../../src/kit/SingleFlight.js"
import * as Waking from "../../src/kit/Waking.js"

const turned = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))

describe("Waking", () => {
  it("runs what is woken at once, and what that wakes when it has stopped, in order", () => {
    const order: Array<string> = []
    Waking.wake(() => {
      Waking.wake(() => {
        order.push("second")
        Waking.wake(() => order.push("fourth"))
      })
      Waking.wake(() => order.push("third"))
      order.push("first")
    })
    assert.deepStrictEqual(order, ["first", "second", "third", "fourth"])
  })

  it.live("wakes all others when one throws", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      assert.throws(() =>
        Waking.wake(() => {
          Waking.wake(() => order.push("other"))
          throw new Error("broken")
        }), /broken/)
      Waking.wake(() => order.push("later"))
      yield* turned
      assert.deepStrictEqual(order, ["other", "later"])
    }))

  it.live("lets the event loop turn while fibers wake each other for ever", () =>
    Effect.gen(function*() {
      let isOver = false
      const forever = (): void => isOver ? undefined : Waking.wake(forever)
      Waking.wake(forever)
      yield* turned
      isOver = true
      yield* turned
    }))
})

/** How many parts wake each other in a chain. */
const LENGTH = 20_000

const parts = Array.from({ length: LENGTH }, (_, n) => n)

describe("A chain of 20,000", () => {
  it.effect("outboxes is passed through, each reader being woken by the one before it", () =>
    Effect.gen(function*() {
      const outboxes = parts.map(() => Outbox.make<number>())
      const last = yield* Deferred.make<number>()
      for (const [n, outbox] of outboxes.entries()) {
        const next = outboxes[n + 1]
        yield* Effect.fork(Effect.flatMap(outbox.takeAll, ([value]) =>
          next === undefined ? Deferred.succeed(last, value!) : Effect.sync(() =>
            next.unsafeOffer(value! + 1)
          )))
      }
      yield* Effect.yieldNow({ priority: 10 })
      outboxes[0]!.unsafeOffer(1)
      assert.strictEqual(yield* Deferred.await(last), LENGTH)
    }))

  it.effect("full outboxes is passed through, each sender being woken by the one after it", () =>
    Effect.gen(function*() {
      const outboxes = parts.map(() => Outbox.make<number>(1))
      for (const outbox of outboxes) outbox.unsafeOffer(0)
      const first = yield* Deferred.make<void>()
      for (const [n, outbox] of outboxes.entries()) {
        const before = outboxes[n - 1]
        yield* Effect.fork(Effect.zipRight(
          outbox.offer(1),
          Effect.suspend(() => {
            before?.unsafeTakeAll()
            return before === undefined ? Deferred.succeed(first, undefined) : Effect.succeed(true)
          })
        ))
      }
      yield* Effect.yieldNow({ priority: 10 })
      outboxes[LENGTH - 1]!.unsafeTakeAll()
      yield* Deferred.await(first)
    }))

  it.effect("runs that callers share ends, each run being a caller of the one before it", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<number>()
      let before: Effect.Effect<number, string> = Deferred.await(gate)
      for (const _ of parts) {
        const own = before
        const run = SingleFlight.make<number, string>()
        const fiber = yield* Effect.fork(run.join(Effect.map(own, (n) => n + 1)))
        before = Effect.suspend(() => run.isRunning() ? run.join(Effect.die("has ended")) : Fiber.join(fiber))
        yield* Effect.yieldNow()
      }
      yield* Effect.yieldNow({ priority: 10 })
      const last = yield* Effect.fork(before)
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, 0)
      assert.strictEqual(yield* Fiber.join(last), LENGTH)
    }))

  it.live("turns of the event loop comes to its end", () =>
    Effect.gen(function*() {
      let count = 0
      yield* Effect.forEach(parts, () => Effect.map(EventLoop.turn, () => count++), { discard: true })
      assert.strictEqual(count, LENGTH)
    }))
})
