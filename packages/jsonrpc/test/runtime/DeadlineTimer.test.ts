import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import * as DeadlineTimer from "../../src/runtime/DeadlineTimer.js"
import { leavesNothing } from "../Talk.js"

/** An alarm whose owner keeps a list of deadlines, and writes down when it was asked to look. */
const keeper = Effect.gen(function*() {
  const rung: Array<number> = []
  let deadlines: Array<number> = []
  const alarm = yield* DeadlineTimer.make((now) => {
    rung.push(now)
    deadlines = deadlines.filter((deadline) => deadline > now)
    return Math.min(Infinity, ...deadlines)
  })
  const set = (...at: ReadonlyArray<number>) => {
    for (const one of at) {
      deadlines.push(one)
      alarm.set(one)
    }
  }
  return { alarm, rung, set }
})

describe("Alarm", () => {
  it.effect("rings when the time has come, and not before", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      set(100)
      yield* TestClock.adjust(99)
      assert.deepStrictEqual(rung, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(rung, [100])
    }))

  it.effect("rings for every deadline, in whatever order they were set", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      set(300, 100, 200)
      for (let i = 0; i < 40; i++) yield* TestClock.adjust(10)
      assert.deepStrictEqual(rung, [100, 200, 300])
    }))

  it.effect("rings once for what is due together", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      set(100, 100, 100)
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(rung, [100])
    }))

  it.effect("can be set again when it has rung for the last time", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      set(100)
      yield* TestClock.adjust(100)
      set(250)
      yield* TestClock.adjust(149)
      assert.deepStrictEqual(rung, [100])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(rung, [100, 250])
    }))

  it.effect("rings at once for what is past", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      yield* TestClock.adjust(500)
      set(100)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(rung, [500])
    }))

  it.effect("can be set while it rings", () =>
    Effect.gen(function*() {
      const rung: Array<number> = []
      const alarm: DeadlineTimer.DeadlineTimer = yield* DeadlineTimer.make((now) => {
        rung.push(now)
        if (now < 300) alarm.set(now + 100)
        return Infinity
      })
      alarm.set(100)
      for (let i = 0; i < 50; i++) yield* TestClock.adjust(10)
      assert.deepStrictEqual(rung, [100, 200, 300])
    }))

  it.effect("waits longer than a timer can", () =>
    Effect.gen(function*() {
      const { rung, set } = yield* keeper
      const far = Duration.toMillis("100 days")
      set(far)
      yield* TestClock.adjust("99 days")
      assert.deepStrictEqual(rung, [])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(rung, [far])
    }))

  it.effect("never sleeps longer than a timer can", () =>
    Effect.gen(function*() {
      const { alarm, set } = yield* keeper
      set(2 ** 40)
      const sleeps = [...(yield* TestClock.sleeps())]
      assert.strictEqual(sleeps.length, 1)
      assert.isBelow(sleeps[0]!, 2 ** 31)
      alarm.stop()
    }))

  it.effect("has no fiber without a deadline, and one for any number of them", () =>
    leavesNothing(Effect.gen(function*() {
      const { rung, set } = yield* keeper
      const before = yield* TestClock.sleeps()
      set(Infinity)
      assert.deepStrictEqual(yield* TestClock.sleeps(), before)
      for (let at = 100; at < 200; at++) set(at)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([...(yield* TestClock.sleeps())], [...before, 100])
      yield* TestClock.adjust(1000)
      assert.strictEqual(rung.length, 100)
    })))

  it.effect("sleeps anew for an earlier deadline, and no longer for the later one", () =>
    leavesNothing(Effect.gen(function*() {
      const { rung, set } = yield* keeper
      set(1000)
      set(500)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(rung, [500])
      set(600)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(rung, [500, 600, 1000])
    })))

  it.effect("has one fiber to stop, however often it was set to ring earlier", () =>
    leavesNothing(Effect.gen(function*() {
      const { alarm, set } = yield* keeper
      for (const at of [4000, 3000, 2000, 1000]) {
        set(at)
        yield* Effect.yieldNow()
      }
      yield* Fiber.await(alarm.stop()!)
    })))

  it.effect("never rings again when it was stopped", () =>
    leavesNothing(Effect.gen(function*() {
      const { alarm, rung, set } = yield* keeper
      set(100)
      const fiber = alarm.stop()
      assert.isDefined(fiber)
      yield* Fiber.await(fiber)
      set(50)
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(rung, [])
      assert.strictEqual(alarm.stop(), undefined)
    })))

  it.effect("stops where nothing can be interrupted as well", () =>
    leavesNothing(Effect.gen(function*() {
      const { alarm, set } = yield* Effect.uninterruptible(keeper)
      set(100)
      yield* Fiber.await(alarm.stop()!)
    })))
})

describe("Alarm.millis", () => {
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
    it(`makes ${millis} of ${String(duration)}`, () => {
      assert.strictEqual(DeadlineTimer.millis(duration), millis)
    })
  }
})
