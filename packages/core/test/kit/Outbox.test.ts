import { assert, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { closed } from "@effect-mcp/core/Transport"
import { Deferred, Effect, Exit, Fiber, Option, Stream } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { settled } from "../../../testing/test/support/Settled.js"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as Outbox from "../../src/kit/Outbox.js"

/** Forks the effect and waits until it is suspended. */
const suspended = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* untilSuspended(fiber)
    return fiber
  })

describe("Outbox", () => {
  it.effect("returns the values that it was offered, in order, all at once", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>()
      assert.isTrue(yield* outbox.offer(1))
      assert.isTrue(outbox.unsafeOffer(2))
      assert.isTrue(yield* outbox.offer(3))
      assert.strictEqual(outbox.size, 3)
      assert.deepStrictEqual(yield* outbox.takeAll, [1, 2, 3])
      assert.strictEqual(outbox.size, 0)
    }))

  it("returns no value when it is empty", () => {
    const outbox = Outbox.make<number>()
    assert.deepStrictEqual(outbox.unsafeTakeAll(), [])
    outbox.unsafeOffer(1)
    assert.deepStrictEqual(outbox.unsafeTakeAll(), [1])
    assert.deepStrictEqual(outbox.unsafeTakeAll(), [])
  })

  it.effect("suspends the reader until there is a value", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>()
      const reader = yield* suspended(outbox.takeAll)
      outbox.unsafeOffer(1)
      assert.deepStrictEqual(yield* Fiber.join(reader), [1])
    }))

  it.effect("removes a reader that was interrupted", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>()
      yield* Fiber.interrupt(yield* suspended(outbox.takeAll))
      outbox.unsafeOffer(1)
      assert.deepStrictEqual(yield* outbox.takeAll, [1])
    }))

  it("holds 256 values before it is full", () => {
    const outbox = Outbox.make<number>()
    for (let i = 0; i < 255; i++) outbox.unsafeOffer(i)
    assert.isFalse(outbox.isFull)
    outbox.unsafeOffer(255)
    assert.isTrue(outbox.isFull)
  })

  it("drops the oldest value when another one slides in", () => {
    const outbox = Outbox.make<number>(2)
    for (const value of [1, 2, 3, 4]) assert.isTrue(outbox.unsafeSlide(value))
    assert.deepStrictEqual(outbox.unsafeTakeAll(), [3, 4])
    outbox.end(Exit.void)
    assert.isFalse(outbox.unsafeSlide(5))
  })

  it("drops the oldest values that slide in while all have more than 16 Mi characters, and keeps the newest of any size", () => {
    const outbox = Outbox.make<string>()
    const most = 16 * 1024 * 1024
    const slide = (value: string, size: number) => assert.isTrue(outbox.unsafeSlide(value, size))
    slide("a", 1)
    slide("b", most - 1)
    assert.strictEqual(outbox.size, 2)
    slide("c", 1)
    assert.strictEqual(outbox.size, 2)
    slide("d", 1)
    assert.deepStrictEqual(outbox.unsafeTakeAll(), ["c", "d"])
    // What was taken counts no more.
    slide("e", most)
    slide("f", most + 1)
    slide("g", 1)
    slide("h", most - 1)
    assert.deepStrictEqual(outbox.unsafeTakeAll(), ["g", "h"])
  })

  it.effect("suspends a sender while it is full, and no longer", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(2)
      yield* outbox.offer(1)
      yield* outbox.offer(2)
      const sender = yield* suspended(outbox.offer(3))
      assert.strictEqual(outbox.size, 2)
      assert.deepStrictEqual(yield* outbox.takeAll, [1, 2])
      assert.isTrue(yield* Fiber.join(sender))
      assert.deepStrictEqual(yield* outbox.takeAll, [3])
    }))

  it.effect("resumes as many senders as there is space for, in their order", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(2)
      outbox.unsafeOffer(0)
      outbox.unsafeOffer(0)
      const senders: Array<Fiber.RuntimeFiber<boolean>> = []
      for (let i = 1; i <= 5; i++) senders.push(yield* suspended(outbox.offer(i)))
      const taken: Array<ReadonlyArray<number>> = [yield* outbox.takeAll]
      for (let i = 0; i < 5; i += 2) {
        yield* Fiber.joinAll(senders.slice(i, i + 2))
        assert.isAtMost(outbox.size, 2)
        taken.push(outbox.unsafeTakeAll())
      }
      assert.deepStrictEqual(taken, [[0, 0], [1, 2], [3, 4], [5]])
    }))

  it.effect("accepts unsafeOffer, however full it is", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(1)
      for (let i = 0; i < 1000; i++) assert.isTrue(outbox.unsafeOffer(i))
      assert.strictEqual((yield* outbox.takeAll).length, 1000)
    }))

  it.effect("removes a suspended sender that was interrupted, and its value", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(1)
      outbox.unsafeOffer(1)
      const [interrupted, waiting] = [yield* suspended(outbox.offer(2)), yield* suspended(outbox.offer(3))]
      yield* Fiber.interrupt(interrupted)
      assert.strictEqual(outbox["suspended"].size, 1)
      assert.deepStrictEqual(outbox.unsafeTakeAll(), [1])
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(outbox.unsafeTakeAll(), [3])
    }))

  it.effect("has space for one value at least", () =>
    Effect.gen(function*() {
      for (const capacity of [0, -1]) {
        const outbox = Outbox.make<number>(capacity)
        assert.strictEqual(outbox.capacity, 1)
        assert.isTrue(yield* outbox.offer(1))
      }
    }))
})

describe("an outbox that has ended", () => {
  it.effect("accepts no value, and returns those that it had", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>()
      outbox.unsafeOffer(1)
      assert.isFalse(outbox.isEnded)
      outbox.end(Exit.void)
      assert.isTrue(outbox.isEnded)
      assert.isFalse(outbox.unsafeOffer(2))
      assert.isFalse(yield* outbox.offer(3))
      assert.deepStrictEqual(yield* outbox.takeAll, [1])
      assert.deepStrictEqual(yield* Effect.flip(outbox.takeAll), Option.none())
    }))

  it.effect("ends with the first exit", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number, string>()
      outbox.end(Exit.fail("broken"))
      outbox.end(Exit.void)
      assert.deepStrictEqual(yield* Effect.flip(outbox.takeAll), Option.some("broken"))
    }))

  it.effect("wakes the reader", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>()
      const reader = yield* suspended(Effect.flip(outbox.takeAll))
      outbox.end(Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(reader), Option.none())
    }))

  it.effect("resumes the suspended senders with false", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(1)
      outbox.unsafeOffer(0)
      const senders = [yield* suspended(outbox.offer(1)), yield* suspended(outbox.offer(2))]
      outbox.end(Exit.void)
      assert.deepStrictEqual(yield* Fiber.joinAll(senders), [false, false])
      assert.deepStrictEqual(outbox.unsafeTakeAll(), [0])
    }))

  it.effect("is never full", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(1)
      outbox.unsafeOffer(0)
      outbox.end(Exit.void)
      assert.isFalse(outbox.isFull)
      yield* outbox.awaitSpace
    }))
})

const readers: Record<
  string,
  <E>(outbox: Outbox.Outbox<number, E>, f: (value: number) => void) => Effect.Effect<void, E>
> = {
  stream: (outbox, f) => Stream.runForEach(outbox.stream, (value) => Effect.sync(() => f(value))),
  forEach: (outbox, f) => outbox.forEach(f)
}

for (const [reader, read] of Object.entries(readers)) {
  describe(`Outbox.${reader}`, () => {
    it.effect("has the values, until the end", () =>
      Effect.gen(function*() {
        const outbox = Outbox.make<number>()
        const received: Array<number> = []
        const half = yield* Deferred.make<void>()
        const reader = yield* Effect.fork(read(outbox, (value) => {
          received.push(value)
          if (value === 2) Deferred.unsafeDone(half, Exit.void)
        }))
        outbox.unsafeOffer(1)
        outbox.unsafeOffer(2)
        yield* Deferred.await(half)
        outbox.unsafeOffer(3)
        outbox.end(Exit.void)
        yield* Fiber.join(reader)
        assert.deepStrictEqual(received, [1, 2, 3])
      }))

    it.effect("fails with the exit of the outbox, after its values", () =>
      Effect.gen(function*() {
        const outbox = Outbox.make<number, string>()
        outbox.unsafeOffer(1)
        outbox.end(Exit.fail("broken"))
        const received: Array<number> = []
        const error = yield* Effect.flip(read(outbox, (value) => void received.push(value)))
        assert.deepStrictEqual([received, error], [[1], "broken"])
      }))

    it.effect("loses no wake-up, wherever reader and sender yield", () =>
      preempted(
        Effect.gen(function*() {
          const outbox = Outbox.make<number>(1)
          const received: Array<number> = []
          const reader = yield* Effect.fork(read(outbox, (value) => void received.push(value)))
          for (let value = 0; value < 5; value++) yield* outbox.offer(value)
          outbox.end(Exit.void)
          yield* Fiber.join(reader)
          assert.deepStrictEqual(received, [0, 1, 2, 3, 4])
        })
      ), 60_000)
  })
}

const message = Message.notification("n")

/** A channel that accepts `capacity` messages before senders wait. */
const bounded = (capacity: number) => {
  const outbox = Outbox.make<Message.Message>(capacity)
  const out: Outbox.Congestible<Message.Message> = {
    get congestion() {
      return outbox.isFull ? outbox.awaitSpace : undefined
    },
    unsafeSend: (message) => outbox.unsafeOffer(message)
  }
  return { outbox, out }
}

describe("Outbox.canSend", () => {
  it("is false while a sender would wait, and while nobody reads", () => {
    const { out, outbox } = bounded(1)
    assert.isTrue(Outbox.canSend(out))
    outbox.unsafeOffer(message)
    assert.isFalse(Outbox.canSend(out))
    outbox.unsafeTakeAll()
    assert.isTrue(Outbox.canSend(out))
    assert.isFalse(Outbox.canSend({ ...out, isUnread: true }))
  })
})

describe("Outbox.send", () => {
  it.effect("suspends while the channel is full, each time it checks", () =>
    Effect.gen(function*() {
      const { out, outbox } = bounded(1)
      yield* Outbox.send(out, message, closed)
      const senders = yield* Effect.forEach([1, 2], () => Effect.fork(Outbox.send(out, message, closed)))
      for (const left of [2, 1, 0]) {
        yield* settled
        const waiting = yield* Effect.forEach(senders, (sender) => Fiber.poll(sender))
        assert.strictEqual(waiting.filter(({ _tag }) => _tag === "None").length, left)
        assert.lengthOf(outbox.unsafeTakeAll(), 1)
      }
    }))

  it.effect("fails when the channel is closed, also for a sender that waits", () =>
    Effect.gen(function*() {
      const { out, outbox } = bounded(1)
      yield* Outbox.send(out, message, closed)
      const sender = yield* Effect.fork(Outbox.send(out, message, closed))
      yield* Effect.yieldNow()
      outbox.end(Exit.void)
      const exit = yield* Fiber.await(sender)
      assert.isTrue(Exit.isFailure(exit))
    }))
})

describe("20,000 senders that wait", () => {
  it.effect("have their values taken in order, but for those that are interrupted", () =>
    Effect.gen(function*() {
      const outbox = Outbox.make<number>(1024)
      const senders = yield* Effect.forEach(
        Array.from({ length: 20_000 }, (_, n) => n),
        (n) => Effect.fork(outbox.offer(n))
      )
      yield* Effect.yieldNow({ priority: 10 })
      yield* Fiber.interruptAll(senders.filter((_, n) => n >= 1024 && n % 4 === 0))
      const taken: Array<number> = []
      while (taken.length < 15_256) for (const one of yield* outbox.takeAll) taken.push(one)
      const left = Array.from({ length: 20_000 }, (_, n) => n).filter((n) => n < 1024 || n % 4 > 0)
      assert.deepStrictEqual(taken, left)
    }))
})
