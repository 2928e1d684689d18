import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Sweeper from "../../src/http/Sweeper.js"

/** Is due every so many milliseconds, and records when it was swept. */
const every = (millis: number) => {
  const asked: Array<number> = []
  return {
    asked,
    sweep: (now: number) => {
      asked.push(now)
      return now + millis
    }
  }
}

describe("Sweeper", () => {
  it.scoped("sweeps at the given time, and whenever sweep returns", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const one = every(15_000)
      sweeper.watch(one, sweeper.now() + 15_000)
      yield* TestClock.adjust("14999 millis")
      assert.deepStrictEqual(one.asked, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(one.asked, [15_000])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.asked, [15_000, 30_000, 45_000, 60_000, 75_000])
    }))

  it.scoped("waits between two sweeps, however many deadlines there are", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const all = Array.from({ length: 100 }, (_, i) => {
        const one = every(1000)
        sweeper.watch(one, sweeper.now() + 500 + i)
        return one
      })
      yield* TestClock.adjust("10 seconds")
      for (const { asked } of all) assert.isAtMost(asked.length, 11)
    }))

  it.scoped("sweeps earlier when something is due earlier", () =>
    Effect.gen(function*() {
      const sweeper = yield* Sweeper.make
      const late = every(60_000)
      const early = every(60_000)
      sweeper.watch(late, sweeper.now() + 60_000)
      sweeper.watch(early, sweeper.now() + 2000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(early.asked, [2000])
    }))

  it.scoped("does not sweep what is no longer watched, also during a sweep", () =>
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
      assert.deepStrictEqual(second.asked, [])
    }))

  it.effect("stops with its scope", () =>
    Effect.gen(function*() {
      const one = every(1000)
      yield* Effect.scoped(Effect.gen(function*() {
        const sweeper = yield* Sweeper.make
        sweeper.watch(one, sweeper.now() + 1000)
      }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(one.asked, [])
    }))
})
