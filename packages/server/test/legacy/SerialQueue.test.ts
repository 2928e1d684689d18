import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SerialQueue } from "../../src/legacy/SerialQueue.js"
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

  it.effect("accepts effects that a running effect adds", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.add(Effect.void, () => steps.add(Effect.sync(() => done.push("a"))))
      assert.deepStrictEqual(done, ["a", "rest"])
    }))
})
