import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Sweeper from "../../src/http/Sweeper.js"

/** Expires again after each period in milliseconds, and records when the sweeper called it. */
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

describe("Sweeper", () => {
  it.scoped("sweeps at the given time, and then at each time that sweep returns", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const one = every(15_000)
      sweeper.watch(one, sweeper.now() + 15_000)
      yield* TestClock.adjust("14999 millis")
      assert.deepStrictEqual(one.sweeps, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(one.sweeps, [15_000])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.sweeps, [15_000, 30_000, 45_000, 60_000, 75_000])
    }))

  it.scoped("waits RESOLUTION between two sweeps, with any number of deadlines", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const all = Array.from({ length: 100 }, (_, i) => {
        const one = every(1000)
        sweeper.watch(one, sweeper.now() + 500 + i)
        return one
      })
      yield* TestClock.adjust("10 seconds")
      for (const { sweeps } of all) assert.isAtMost(sweeps.length, 11)
    }))

  it.scoped("sweeps earlier when something is due earlier", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const late = every(60_000)
      const early = every(60_000)
      sweeper.watch(late, sweeper.now() + 60_000)
      sweeper.watch(early, sweeper.now() + 2000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(early.sweeps, [2000])
    }))

  it.scoped("does not sweep after unwatch, also during a sweep", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const second = every(1000)
      const first = {
        sweep: () => {
          sweeper.unwatch(first)
          sweeper.unwatch(second)
          return Infinity
        }
      }
      sweeper.watch(first, sweeper.now() + 1000)
      sweeper.watch(second, sweeper.now() + 1000)
      assert.strictEqual(sweeper.size, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(sweeper.size, 0)
      assert.deepStrictEqual(second.sweeps, [])
    }))

  it.effect("stops with its scope", () =>
    Effect.gen(function*() {
      const one = every(1000)
      yield* Effect.scoped(Effect.gen(function*() {
        const sweeper = yield* Sweeper.make
        sweeper.watch(one, sweeper.now() + 1000)
      }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.sweeps, [])
    }))
})
