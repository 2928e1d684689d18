import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Scheduler } from "effect"
import { MAX_WAITING, NotificationQueue } from "../../src/runtime/NotificationQueue.js"
import { until } from "../Serving.js"

const setup = Effect.gen(function*() {
  const gate = yield* Deferred.make<void>()
  const queue = new NotificationQueue()
  const sent: Array<string> = []
  const send = (text: string) => Effect.zipRight(Deferred.await(gate), Effect.sync(() => sent.push(text)))
  return { gate, queue, sent, send }
})

/** A fiber that has run this many steps, and pauses until the scheduler's next turn. */
const pausedAt = (effect: Effect.Effect<void>, steps: number): Fiber.RuntimeFiber<void> => {
  let own: unknown
  let left = steps
  const scheduler = Scheduler.make(
    (task) => void Promise.resolve().then(task),
    (fiber) => fiber === (own ??= fiber) && left-- === 0 ? 1 : false
  )
  return Effect.runFork(effect, { scheduler, immediate: true })
}

describe("NotificationQueue", () => {
  it.effect("sends in order, and of those with one key the newest that waits", () =>
    Effect.gen(function*() {
      const { gate, queue, send, sent } = yield* setup
      yield* queue.add("a", send("a1"))
      yield* Effect.yieldNow()
      for (const text of ["b1", "a2", "b2", "a3"]) yield* queue.add(text[0], send(text))
      yield* queue.add(undefined, send("one"))
      yield* queue.add(undefined, send("two"))
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => sent.includes("two"))
      assert.deepStrictEqual(sent, ["a1", "b2", "a3", "one", "two"])
      yield* queue.add("a", send("a4"))
      yield* until(() => sent.includes("a4"))
    }))

  it.effect("sends those after one that dies, fails or interrupts itself", () =>
    Effect.gen(function*() {
      const { gate, queue, send, sent } = yield* setup
      yield* Deferred.succeed(gate, undefined)
      for (const bad of [Effect.die("bug"), Effect.fail("no") as Effect.Effect<never, never>, Effect.interrupt]) {
        const before = sent.length
        yield* queue.add(undefined, bad)
        yield* Effect.repeatN(Effect.yieldNow(), 10)
        yield* queue.add(undefined, send("next"))
        yield* until(() => sent.length > before)
      }
    }))

  it.effect("sends what comes after a sender that was interrupted, at whatever step", () =>
    Effect.gen(function*() {
      for (let step = 0, wasInterrupted = true; wasInterrupted; step++) {
        const { gate, queue, send, sent } = yield* setup
        yield* Deferred.succeed(gate, undefined)
        const sender = pausedAt(queue.add(undefined, send("first")), step)
        wasInterrupted = sender.unsafePoll() === null
        yield* Fiber.interrupt(sender)
        yield* queue.add(undefined, send("second"))
        yield* until(() => sent.includes("second"))
      }
    }))

  it.effect("drops the oldest when too many wait, and all of them when it stops", () =>
    Effect.gen(function*() {
      const { gate, queue, send, sent } = yield* setup
      yield* queue.add("first", send("first"))
      yield* Effect.yieldNow()
      for (let n = 0; n < MAX_WAITING + 3; n++) yield* queue.add(undefined, send(String(n)))
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => sent.includes(String(MAX_WAITING + 2)))
      assert.deepStrictEqual([sent.length, sent[0], sent[1]], [MAX_WAITING + 1, "first", "3"])
      yield* queue.add("never", Effect.never)
      yield* queue.add("a", send("a"))
      yield* queue.stop()
      assert.notInclude(sent, "a")
    }))
})
