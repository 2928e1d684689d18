import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Scheduler } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { SerialQueue } from "../../src/kit/SerialQueue.js"

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => holds() ? Effect.void : Effect.zipRight(Effect.yieldNow(), until(holds)))

const make = Effect.map(Effect.runtime<never>(), (runtime) => {
  const done: Array<string> = []
  return { done, steps: new SerialQueue({ runtime, capacity: 2, onIdle: () => done.push("rest") }) }
})

/** A queue whose notifications wait at a gate, and those that have passed it. */
const notifying = (capacity = 256, surplus: Effect.Effect<void> | "drop" = "drop") =>
  Effect.map(Deferred.make<void>(), (gate) => {
    const sent: Array<string> = []
    const send = (text: string) => Effect.zipRight(Deferred.await(gate), Effect.sync(() => sent.push(text)))
    return { open: Deferred.succeed(gate, undefined), queue: new SerialQueue({ capacity, surplus }), sent, send }
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

describe("SerialQueue", () => {
  it.effect("runs a synchronous effect at once", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.add(() => Effect.sync(() => done.push("a")), () => done.push("then"))
      assert.deepStrictEqual(done, ["a", "then", "rest"])
      assert.isFalse(steps.isRunning)
    }))

  it.effect("runs later effects in order, after an asynchronous one has ended or failed", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      const gate = yield* Deferred.make<void>()
      steps.add(() => Effect.zipRight(Deferred.await(gate), Effect.die("no")), () => done.push("a"))
      steps.add(() => Effect.yieldNow(), () => done.push("b"))
      steps.add(() => Effect.void, () => done.push("c"))
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
      steps.add(() => Deferred.await(gate), () => isNeeded = false)
      const lazily = () =>
        steps.add(() => isNeeded ? Effect.sync(() => done.push("made")) : undefined, () => done.push("then"))
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
      steps.add(() => Effect.void, () => steps.add(() => Effect.sync(() => done.push("a"))))
      assert.deepStrictEqual(done, ["a", "rest"])
    }))

  it.effect("lets all that wait for space look again, however many there are", () =>
    Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying(1)
      const adding = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, n) => String(n)),
        (text) => Effect.fork(Effect.map(queue.space, () => queue.add(() => send(text))))
      )
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      yield* Fiber.interruptAll(adding.slice(100))
      yield* open
      for (const fiber of adding.slice(0, 100)) yield* Fiber.join(fiber)
      yield* until(() => !queue.isRunning)
      assert.isAtLeast(sent.length, 100)
    }))

  it.effect("wakes who waits for space when the task that made the space has begun", () =>
    Effect.gen(function*() {
      const { open, queue, send } = yield* notifying(1)
      const order: Array<string> = []
      queue.add(() => send("first"))
      queue.add(() => {
        order.push("begun")
        return Effect.never
      })
      const waiting = yield* Effect.fork(Effect.map(queue.space, () => {
        order.push("woken")
        return queue.stop()
      }))
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      yield* open
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(order, ["begun", "woken"])
    }))

  it.effect("wakes a chain of 20,000 queues, each of which waits for space in the next one", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let ended = 0
      let space: Effect.Effect<void> = Deferred.await(gate)
      for (let n = 0; n < 20_000; n++) {
        const queue = new SerialQueue({ capacity: 1 })
        const wait = space
        queue.add(() => Effect.map(wait, () => ended++))
        queue.add(() => undefined)
        space = queue.space
      }
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => ended === 20_000)
    }))

  it.effect("runs a chain of 20,000 tasks in order, however many of them wait", () =>
    Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying(Infinity)
      for (let n = 0; n < 20_000; n++) {
        queue.add(() => n % 3 === 0 ? send(String(n)) : Effect.zipRight(Effect.yieldNow(), send(String(n))))
      }
      yield* open
      yield* until(() => !queue.isRunning)
      assert.strictEqual(sent.length, 20_000)
      assert.isTrue(sent.every((text, n) => text === String(n)))
    }))

  it.effect("runs the newest of the tasks with one key that wait, in the place of the first", () =>
    Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying()
      yield* queue.fork(send("a1"), "a")
      yield* Effect.yieldNow()
      for (const text of ["b1", "a2", "b2", "a3"]) yield* queue.fork(send(text), text[0])
      assert.isTrue(queue.has("a") && queue.has("b") && !queue.has("c"))
      yield* queue.fork(send("one"))
      yield* queue.fork(send("two"))
      yield* open
      yield* until(() => sent.includes("two"))
      assert.deepStrictEqual(sent, ["a1", "b2", "a3", "one", "two"])
      yield* queue.fork(send("a4"), "a")
      yield* until(() => sent.includes("a4"))
      yield* until(() => !queue.isRunning)
      assert.isFalse(queue.has("a"))
    }))

  it.effect("has a task of a key until the task begins, and no longer", () =>
    Effect.gen(function*() {
      const queue = new SerialQueue()
      const sent = yield* Deferred.make<void>()
      const turn = yield* Deferred.make<void>()
      yield* queue.fork(Effect.zipRight(Deferred.succeed(sent, undefined), Deferred.await(turn)), "a")
      assert.isTrue(queue.has("a"))
      yield* Deferred.await(sent)
      assert.isTrue(queue.isRunning)
      assert.isFalse(queue.has("a"))
      yield* Deferred.succeed(turn, undefined)
    }))

  it.effect("runs what comes after a task that dies, fails or interrupts itself", () =>
    Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying()
      yield* open
      for (const bad of [Effect.die("bug"), Effect.fail("no") as Effect.Effect<never, never>, Effect.interrupt]) {
        const before = sent.length
        yield* queue.fork(bad)
        yield* Effect.repeatN(Effect.yieldNow(), 10)
        yield* queue.fork(send("next"))
        yield* until(() => sent.length > before)
      }
    }))

  it.effect("runs what comes after a caller that was interrupted, at whatever step", () =>
    Effect.gen(function*() {
      for (let step = 0, wasInterrupted = true; wasInterrupted; step++) {
        const { open, queue, send, sent } = yield* notifying()
        yield* open
        const caller = pausedAt(queue.fork(send("first")), step)
        wasInterrupted = caller.unsafePoll() === null
        yield* Fiber.interrupt(caller)
        yield* queue.fork(send("second"))
        yield* until(() => sent.includes("second"))
      }
    }))

  it.live("loses no task, and leaves no fiber when it stops, wherever a fiber stops between two steps", () =>
    preempted(Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying()
      const callers = yield* Effect.forEach(["a", "b", "c"], (text) => Effect.forkDaemon(queue.fork(send(text), text)))
      yield* Effect.yieldNow()
      yield* Fiber.interruptFork(callers[1]!)
      yield* open
      yield* until(() => callers.every((caller) => caller.unsafePoll() !== null) && !queue.isRunning)
      assert.isTrue(sent.includes("a") && sent.includes("c"))
      yield* queue.fork(Effect.never)
      yield* Effect.yieldNow()
      const last = queue.stop()
      if (last !== undefined) yield* Fiber.await(last)
      yield* until(() => !queue.isRunning)
    })))

  it.effect("drops the oldest task when too many wait, and all of them when it stops", () =>
    leavesNothing(Effect.gen(function*() {
      const { open, queue, send, sent } = yield* notifying(4)
      yield* queue.fork(send("first"))
      yield* Effect.yieldNow()
      for (let n = 0; n < 7; n++) yield* queue.fork(send(String(n)))
      yield* open
      yield* until(() => sent.includes("6"))
      assert.deepStrictEqual(sent, ["first", "3", "4", "5", "6"])
      yield* queue.fork(Effect.never, "never")
      yield* queue.fork(send("a"), "a")
      yield* Fiber.await(queue.stop()!)
      yield* queue.fork(send("b"))
      yield* until(() => !queue.isRunning)
      assert.isFalse(sent.includes("a") || sent.includes("b"))
    })))

  it.effect("replaces all tasks that wait by one, where it has one for that", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const { open, queue, send } = yield* notifying(2, Effect.sync(() => sent.push("surplus")))
      for (const text of ["a", "b", "c", "d"]) yield* queue.fork(Effect.map(send(text), () => void sent.push(text)))
      yield* open
      yield* until(() => !queue.isRunning)
      assert.deepStrictEqual(sent, ["a", "surplus"])
    }))

  it.effect("can be stopped by the first steps of its own task", () =>
    leavesNothing(Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.add(() => Effect.zipRight(Effect.sync(() => void steps.stop()), Effect.never), () => done.push("then"))
      yield* until(() => !steps.isRunning)
      steps.add(() => Effect.sync(() => done.push("later")))
      assert.deepStrictEqual(done, [])
    })))

  it.effect("calls back when it is idle: at once, when it is so", () =>
    Effect.gen(function*() {
      const { done, steps } = yield* make
      steps.whenIdle(() => done.push("now"))
      steps.add(() => Effect.yieldNow())
      steps.whenIdle(() => done.push("later"))
      assert.deepStrictEqual(done, ["now"])
      yield* until(() => !steps.isRunning)
      assert.deepStrictEqual(done, ["now", "later"])
    }))

  it.effect("interrupts a task that was added where nothing can be interrupted", () =>
    leavesNothing(Effect.gen(function*() {
      const { queue } = yield* notifying()
      yield* Effect.uninterruptible(queue.fork(Effect.never))
      yield* Effect.yieldNow()
      yield* Fiber.await(queue.stop()!)
    })))
})
