import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
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

  it.effect("gives no effect its turn while it is held, nor lets one pass", () =>
    Effect.gen(function*() {
      const { hold, pass, run } = Semaphore.make(2)
      const gate = yield* Deferred.make<void>()
      const ran: Array<string> = []
      const record = (name: string) => Effect.sync(() => ran.push(name))
      yield* Effect.fork(hold(Deferred.await(gate)))
      yield* Effect.yieldNow()
      const waiting = [yield* Effect.fork(run(record("run"))), yield* Effect.fork(pass(record("pass")))]
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      assert.deepStrictEqual(ran, [])
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of waiting) yield* Fiber.join(fiber)
      assert.sameMembers(ran, ["run", "pass"])
    }))

  it.effect("lets no effect pass during a hold that begins while the effects of the hold before it are woken", () =>
    Effect.gen(function*() {
      const { hold, pass } = Semaphore.make()
      const gate = yield* Deferred.make<void>()
      const ran: Array<string> = []
      yield* Effect.fork(hold(Deferred.await(gate)))
      yield* Effect.yieldNow()
      const holding = yield* Effect.fork(pass(hold(Effect.map(
        Effect.repeatN(Effect.yieldNow(), 5),
        () => ran.push("held")
      ))))
      yield* Effect.yieldNow()
      const passing = yield* Effect.fork(pass(Effect.sync(() => ran.push("passed"))))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([holding, passing])
      assert.deepStrictEqual(ran, ["held", "passed"])
    }))

  it.effect("has space while fewer effects wait than its capacity", () =>
    Effect.gen(function*() {
      const { awaitSpace, run } = Semaphore.make(1, 2)
      const gate = yield* Deferred.make<void>()
      yield* Effect.fork(run(Deferred.await(gate)))
      const waiting = [yield* Effect.fork(run(Effect.void)), yield* Effect.fork(run(Effect.void))]
      yield* Effect.yieldNow()
      const caller = yield* Effect.fork(awaitSpace)
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      assert.isNull(caller.unsafePoll())
      yield* Fiber.interrupt(waiting[1]!)
      yield* Fiber.join(caller)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waiting[0]!)
    }))
})

describe("Permits", () => {
  it("give 20,000 that wait their turn in order, but for those that were dropped", () => {
    const places = new Semaphore.Permits<number, string>({ running: 2, waiting: 20_000, text: Infinity })
    assert.isTrue(places.enter() && places.enter())
    for (let n = 0; n < 20_000; n++) {
      assert.isTrue(!places.enter() && places.canWait(1))
      places.wait(n, `kept ${n}`, 1)
    }
    assert.isFalse(places.canWait(1))
    for (let n = 0; n < 20_000; n += 4) assert.isTrue(places.drop(n) && !places.drop(n))
    const turns: Array<number> = []
    while (places.size > 0) {
      places.leave()
      const [n, kept] = places.next()!
      assert.strictEqual(kept, `kept ${n}`)
      assert.isUndefined(places.next())
      turns.push(n)
    }
    assert.deepStrictEqual(turns, Array.from({ length: 20_000 }, (_, n) => n).filter((n) => n % 4 > 0))
  })

  it("of a client take places of all clients, and say when the client has none left", () => {
    const all = new Semaphore.Permits<string>({ running: 1, waiting: 1, text: 4 })
    let emptied = 0
    const own = new Semaphore.Permits({ running: 2, waiting: 2, text: 4 }, all, () => emptied++)
    assert.isTrue(own.enter() && !own.enter() && !all.enter())
    own.wait("a", undefined, 3)
    assert.isFalse(own.canWait(2))
    assert.isTrue(own.drop("a") && own.canWait(2))
    own.leave()
    assert.deepStrictEqual([emptied, own.isFree, all.running], [1, true, 0])
  })

  it("are taken by a newcomer only after those that wait, also when there is one again because another client has left", () => {
    const all = new Semaphore.Permits<string>({ running: 1, waiting: 1, text: 0 })
    const [own, other] = [1, 2].map(() => new Semaphore.Permits<string>({ running: 2, waiting: 2, text: 4 }, all))
    assert.isTrue(other!.enter() && !own!.enter())
    own!.wait("a", undefined)
    assert.isUndefined(own!.next())
    other!.leave()
    assert.isFalse(own!.enter())
    assert.deepStrictEqual(own!.next(), ["a", undefined])
    own!.leave()
    assert.isTrue(own!.enter())
  })
})
