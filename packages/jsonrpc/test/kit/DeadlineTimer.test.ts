import { assert, describe, it } from "@effect/vitest"
import { leavesNothing } from "@effect-mcp/testing/unstable/Leftovers"
import { Duration, Effect, Fiber, TestClock } from "effect"
import * as DeadlineTimer from "../../src/kit/DeadlineTimer.js"

/** A timer whose owner keeps a list of deadlines, and records when it was called back. */
const keeper = Effect.gen(function*() {
  const calledBack: Array<number> = []
  let deadlines: Array<number> = []
  const timer = yield* DeadlineTimer.make((now) => {
    calledBack.push(now)
    deadlines = deadlines.filter((deadline) => deadline > now)
    return Math.min(Infinity, ...deadlines)
  })
  const set = (...at: ReadonlyArray<number>) => {
    for (const one of at) {
      deadlines.push(one)
      timer.set(one)
    }
  }
  return { timer, calledBack, set }
})

describe("DeadlineTimer", () => {
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

  it.effect("can be set by its callback", () =>
    Effect.gen(function*() {
      const calledBack: Array<number> = []
      const timer: DeadlineTimer.DeadlineTimer = yield* DeadlineTimer.make((now) => {
        calledBack.push(now)
        if (now < 300) timer.set(now + 100)
        return Infinity
      })
      timer.set(100)
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
})

describe("DeadlineTimer.millis", () => {
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
      assert.strictEqual(DeadlineTimer.millis(duration), millis)
    })
  }
})
