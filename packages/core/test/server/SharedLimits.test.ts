import { assert, describe, it } from "@effect/vitest"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as SharedLimitsLaws from "@effect-mcp/testing/SharedLimitsLaws"
import { Effect, TestClock } from "effect"

const nodes = Effect.map(SharedLimits.memory(), (limits) => [limits, limits] as const)

describe("limits in memory", () => {
  for (const { check, name } of SharedLimitsLaws.laws) it.effect(name, () => check(nodes))
  for (const { check, name } of SharedLimitsLaws.timed) it.live(name, () => check(nodes))

  it.effect("allow what they have refused once the time that they gave has passed, and no earlier", () =>
    Effect.gen(function*() {
      const { take } = yield* SharedLimits.memory()
      const rate = { burst: 3, every: "10 seconds" } as const
      yield* take("a", rate, 3)
      assert.strictEqual(yield* take("a", rate), 10_000)
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(yield* take("a", rate), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* take("a", rate), 0)
      assert.strictEqual(yield* take("a", rate, 2), 20_000)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* take("a", rate, 3), 0)
    }))

  it.effect("allow a key again when its time has passed", () =>
    Effect.gen(function*() {
      const { once } = yield* SharedLimits.memory()
      assert.deepStrictEqual([yield* once("a", "1 minute"), yield* once("a", "1 minute")], [true, false])
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(yield* once("a", "1 minute"))
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* once("a", "1 minute"))
    }))

  it.effect("have a limit of keys: rates forget the key that was used least recently", () =>
    Effect.gen(function*() {
      const { take } = yield* SharedLimits.memory({ maxKeys: 2 })
      const rate = { burst: 1, every: "1 hour" } as const
      for (const key of ["a", "b", "c"]) yield* take(key, rate)
      assert.isAbove(yield* take("b", rate), 0)
      assert.isAbove(yield* take("c", rate), 0)
      assert.strictEqual(yield* take("a", rate), 0)
    }))

  it.effect("have a limit of keys: what happens once is refused rather than allowed a second time", () =>
    Effect.gen(function*() {
      const { once } = yield* SharedLimits.memory({ maxKeys: 2 })
      yield* once("a", "1 minute")
      yield* once("b", "2 minutes")
      const { message } = yield* Effect.flip(once("c", "1 minute"))
      assert.strictEqual(message, "2 keys are in use, and this is the limit")
      assert.isFalse(yield* once("a", "1 minute"))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* once("c", "1 minute"))
    }))
})
