import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as Deadlines from "../../src/kit/Deadlines.js"

/** Deadlines whose owner keeps a list of times, and records when it was swept. */
const keeper = Effect.gen(function*() {
  const calledBack: Array<number> = []
  let times: Array<number> = []
  const timer = new Deadlines.Deadlines(yield* Effect.runtime<never>(), yield* Effect.clock)
  timer.watch({
    sweep: (now) => {
      calledBack.push(now)
      times = times.filter((time) => time > now)
      return Math.min(Infinity, ...times)
    }
  }, Infinity)
  const set = (...at: ReadonlyArray<number>) => {
    for (const one of at) {
      times.push(one)
      timer.set(one)
    }
  }
  return { timer, calledBack, set }
})

/** Expires again after each period in milliseconds, and records when it was swept. */
const every = (millis: number) => {
  const sweeps: Array<number> = []
  return {
    sweeps,
    sweep: (now: number) => {
      sweeps.push(now)
      return now + millis
    }
  }
}

describe("Deadlines", () => {
  it.effect("calls back at the deadline, and not before", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      set(100)
      yield* TestClock.adjust(99)
      assert.deepStrictEqual(calledBack, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(calledBack, [100])
    }))

  it.effect("calls back for every deadline, in whatever order they were set", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      set(300, 100, 200)
      for (let i = 0; i < 40; i++) yield* TestClock.adjust(10)
      assert.deepStrictEqual(calledBack, [100, 200, 300])
    }))

  it.effect("go on when one throws, which is called no more", () =>
    Effect.gen(function*() {
      const timer = new Deadlines.Deadlines(yield* Effect.runtime<never>(), yield* Effect.clock)
      const calledBack: Array<string> = []
      for (const name of ["before", "thrower", "after"]) {
        timer.schedule(100, () => {
          calledBack.push(name)
          if (name === "thrower") throw new Error(name)
        })
      }
      const steady = every(100)
      timer.watch(steady, 100)
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(calledBack, ["before", "thrower", "after"])
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(calledBack, ["before", "thrower", "after"])
      assert.deepStrictEqual(steady.sweeps, [100, 200])
    }))

  it.effect("calls back once for deadlines that are due together", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      set(100, 100, 100)
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(calledBack, [100])
    }))

  it.effect("can be set again after its last deadline", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      set(100)
      yield* TestClock.adjust(100)
      set(250)
      yield* TestClock.adjust(149)
      assert.deepStrictEqual(calledBack, [100])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(calledBack, [100, 250])
    }))

  it.effect("calls back at once for a past deadline", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      yield* TestClock.adjust(500)
      set(100)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(calledBack, [500])
    }))

  it.scoped("can be set by what is swept", () =>
    Effect.gen(function*() {
      const calledBack: Array<number> = []
      const timer = yield* Deadlines.make()
      timer.watch({
        sweep: (now) => {
          calledBack.push(now)
          if (now < 300) timer.set(now + 100)
          return Infinity
        }
      }, 100)
      for (let i = 0; i < 50; i++) yield* TestClock.adjust(10)
      assert.deepStrictEqual(calledBack, [100, 200, 300])
    }))

  it.effect("waits longer than a timer of Node can", () =>
    Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      const far = Duration.toMillis("100 days")
      set(far)
      yield* TestClock.adjust("99 days")
      assert.deepStrictEqual(calledBack, [])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(calledBack, [far])
    }))

  it.effect("never sleeps longer than a timer of Node can", () =>
    Effect.gen(function*() {
      const { set, timer } = yield* keeper
      set(2 ** 40)
      const sleeps = [...(yield* TestClock.sleeps())]
      assert.strictEqual(sleeps.length, 1)
      assert.isBelow(sleeps[0]!, 2 ** 31)
      timer.stop()
    }))

  it.effect("has no fiber without a deadline, and one for any number of them", () =>
    leavesNothing(Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      const before = yield* TestClock.sleeps()
      set(Infinity)
      assert.deepStrictEqual(yield* TestClock.sleeps(), before)
      for (let at = 100; at < 200; at++) set(at)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([...(yield* TestClock.sleeps())], [...before, 100])
      yield* TestClock.adjust(1000)
      assert.strictEqual(calledBack.length, 100)
    })))

  it.effect("sleeps again for an earlier deadline, and no longer for the later one", () =>
    leavesNothing(Effect.gen(function*() {
      const { calledBack, set } = yield* keeper
      set(1000)
      set(500)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(calledBack, [500])
      set(600)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(calledBack, [500, 600, 1000])
    })))

  it.effect("has one fiber to stop, however often it was set to an earlier deadline", () =>
    leavesNothing(Effect.gen(function*() {
      const { set, timer } = yield* keeper
      for (const at of [4000, 3000, 2000, 1000]) {
        set(at)
        yield* Effect.yieldNow()
      }
      yield* Fiber.await(timer.stop()!)
    })))

  it.effect("never calls back after it was stopped", () =>
    leavesNothing(Effect.gen(function*() {
      const { calledBack, set, timer } = yield* keeper
      set(100)
      const fiber = timer.stop()
      assert.isDefined(fiber)
      yield* Fiber.await(fiber)
      set(50)
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(calledBack, [])
      assert.strictEqual(timer.stop(), undefined)
    })))

  it.effect("can be stopped when it was made in an uninterruptible region", () =>
    leavesNothing(Effect.gen(function*() {
      const { set, timer } = yield* Effect.uninterruptible(keeper)
      set(100)
      yield* Fiber.await(timer.stop()!)
    })))

  it.scoped("sweep at the given time, and then at each time that sweep returns", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make(1000)
      const one = every(15_000)
      deadlines.watch(one, deadlines.now() + 15_000)
      yield* TestClock.adjust("14999 millis")
      assert.deepStrictEqual(one.sweeps, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(one.sweeps, [15_000])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.sweeps, [15_000, 30_000, 45_000, 60_000, 75_000])
    }))

  it.scoped("wait for the resolution between two sweeps, with any number of deadlines", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make(1000)
      const all = Array.from({ length: 100 }, (_, i) => {
        const one = every(1000)
        deadlines.watch(one, deadlines.now() + 500 + i)
        return one
      })
      yield* TestClock.adjust("10 seconds")
      for (const { sweeps } of all) assert.isAtMost(sweeps.length, 11)
    }))

  it.scoped("sweep earlier when something is due earlier", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make(1000)
      const late = every(60_000)
      const early = every(60_000)
      deadlines.watch(late, deadlines.now() + 60_000)
      deadlines.watch(early, deadlines.now() + 2000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(early.sweeps, [2000])
    }))

  it.scoped("do not sweep after unwatch, also during a sweep", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make(1000)
      const second = every(1000)
      const first = {
        sweep: () => {
          deadlines.unwatch(first)
          deadlines.unwatch(second)
          return Infinity
        }
      }
      deadlines.watch(first, deadlines.now() + 1000)
      deadlines.watch(second, deadlines.now() + 1000)
      assert.strictEqual(deadlines.size, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(deadlines.size, 0)
      assert.deepStrictEqual(second.sweeps, [])
    }))

  it.effect("stop with their scope", () =>
    leavesNothing(Effect.gen(function*() {
      const one = every(1000)
      yield* Effect.scoped(Effect.gen(function*() {
        const deadlines = yield* Deadlines.make(1000)
        deadlines.watch(one, deadlines.now() + 1000)
      }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.sweeps, [])
    })))

  it.scoped("call back once for each of 20,000 that were scheduled and not unwatched, in the order of their time", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make()
      const late: Array<number> = []
      const all = Array.from({ length: 20_000 }, (_, n) => deadlines.schedule(1000 + n % 10, () => late.push(n)))
      const over = all.filter((_, n) => n % 2 === 1)
      assert.isTrue(over.every((one) => deadlines.unwatch(one)))
      assert.isFalse(over.some((one) => deadlines.unwatch(one)))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([late.length, new Set(late).size, deadlines.size], [10_000, 10_000, 0])
      assert.deepStrictEqual(late.map((n) => n % 10), late.map((n) => n % 10).sort())
    }))

  it.live("leave no fiber after their scope, wherever a fiber stops between two steps", () =>
    preempted(Effect.gen(function*() {
      const scope = yield* Scope.make()
      const deadlines = yield* Scope.extend(Deadlines.make(), scope)
      let calls = 0
      for (const delay of [50_000, 40_000, 0]) deadlines.schedule(delay, () => calls++)
      yield* Effect.repeatN(Effect.yieldNow(), 2)
      deadlines.schedule(30_000, () => calls++)
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(deadlines.stop())
      assert.isAtMost(calls, 1)
    })))
})

describe("Deadlines.millis", () => {
  const cases: ReadonlyArray<readonly [duration: Duration.DurationInput, millis: number]> = [
    [0, 0],
    [-5, 0],
    [NaN, 0],
    [250, 250],
    ["2 seconds", 2000],
    [Duration.micros(1500n), 1.5],
    [2 ** 53, 2 ** 53],
    [Infinity, Infinity],
    [Duration.infinity, Infinity]
  ]
  for (const [duration, millis] of cases) {
    it(`is ${millis} for ${String(duration)}`, () => {
      assert.strictEqual(Deadlines.millis(duration), millis)
    })
  }
})
