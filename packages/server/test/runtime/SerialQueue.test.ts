import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SerialQueue } from "../../src/runtime/SerialQueue.js"
import { until } from "../Serving.js"

const make = Effect.map(Effect.runtime<never>(), (runtime) => {
  const done: Array<string> = []
  return { done, steps: new SerialQueue(runtime, 2, () => done.push("rest")) }
})

describe("SerialQueue", () => {
  it.effect("runs a synchronous effect at once", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.add(Effect.sync(() => done.push("a")), () => done.push("then"))
      assert.deepStrictEqual(done, ["a", "then", "rest"])
      assert.isFalse(steps.isRunning)
    }))

  it.effect("runs later effects in order, after an asynchronous one has ended or failed", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      const gate = yield* Deferred.make<void>()
      steps.add(Effect.zipRight(Deferred.await(gate), Effect.die("no")), () => done.push("a"))
      steps.add(Effect.yieldNow(), () => done.push("b"))
      steps.add(Effect.void, () => done.push("c"))
      assert.isTrue(steps.isRunning && steps.isFull)
      assert.deepStrictEqual(done, [])
      yield* Deferred.succeed(gate, undefined)
      yield* steps.space
      yield* until(() => !steps.isRunning)
      assert.deepStrictEqual(done, ["a", "b", "c", "rest"])
    }))

  it.effect("makes an effect when its turn comes, and goes on where there is none", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      const gate = yield* Deferred.make<void>()
      let isNeeded = true
      steps.add(Deferred.await(gate), () => isNeeded = false)
      const lazily = () =>
        steps.addLazily(() => isNeeded ? Effect.sync(() => done.push("made")) : undefined, () => done.push("then"))
      lazily()
      lazily()
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => !steps.isRunning)
      assert.deepStrictEqual(done, ["then", "then", "rest"])
      isNeeded = true
      lazily()
      assert.deepStrictEqual(done, ["then", "then", "rest", "made", "then", "rest"])
    }))

  it.effect("accepts effects that a running effect adds", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.add(Effect.void, () => steps.add(Effect.sync(() => done.push("a"))))
      assert.deepStrictEqual(done, ["a", "rest"])
    }))
})
