import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Option, Ref, Scope, TestClock } from "effect"
import * as Lease from "../../../src/server/nodes/Lease.js"

/** A lease of 4 seconds, whose renewals are those of the test. */
const hold = (renew: Effect.Effect<boolean, unknown>, release: Effect.Effect<unknown, unknown> = Effect.void) =>
  Lease.hold({ length: "4 seconds", take: Effect.void, renew, release })

const isLost = (lost: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const waiting = yield* Effect.fork(lost)
    yield* Effect.yieldNow()
    return Option.isSome(yield* Fiber.poll(waiting))
  })

describe("a lease", () => {
  it.scoped("is kept as long as the store renews it", () =>
    Effect.gen(function*() {
      const lost = yield* hold(Effect.succeed(true))
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* isLost(lost))
    }))

  it.scoped("is lost when the store has it no more", () =>
    Effect.gen(function*() {
      const isKept = yield* Ref.make(true)
      const lost = yield* hold(Ref.get(isKept))
      yield* TestClock.adjust("10 seconds")
      yield* Ref.set(isKept, false)
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isLost(lost))
    }))

  for (
    const [what, renew] of [["answers with errors", Effect.fail("no")], ["does not answer", Effect.never]] as const
  ) {
    it.scoped(`is lost after its length when the store ${what}`, () =>
      Effect.gen(function*() {
        const lost = yield* hold(renew)
        yield* TestClock.adjust("3900 millis")
        assert.isFalse(yield* isLost(lost))
        yield* TestClock.adjust("100 millis")
        assert.isTrue(yield* isLost(lost))
      }))
  }

  it.scoped("is kept when the store has not answered some renewals, and answers those after them", () =>
    Effect.gen(function*() {
      const count = yield* Ref.make(0)
      const renew = Effect.flatMap(
        Ref.updateAndGet(count, (n) => n + 1),
        (n) => n <= 3 ? Effect.never : Effect.succeed(true)
      )
      const lost = yield* hold(renew)
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* isLost(lost))
    }))

  it.scoped("is kept when the store takes longer for each renewal than lies between two", () =>
    Effect.gen(function*() {
      const lost = yield* hold(Effect.delay(Effect.succeed(true), "2500 millis"))
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* isLost(lost))
    }))

  it.scoped("is kept when the store refuses whenever a renewal is due, and takes writes in between", () =>
    Effect.gen(function*() {
      const renew = Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => now % 1000 < 500 ? Effect.fail("read-only") : Effect.succeed(true)
      )
      const lost = yield* hold(renew)
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* isLost(lost))
    }))

  it.scoped("asks a store that refuses at most five times for each renewal", () =>
    Effect.gen(function*() {
      const count = yield* Ref.make(0)
      yield* hold(Effect.zipRight(Ref.update(count, (n) => n + 1), Effect.fail("no")))
      yield* TestClock.adjust("10 seconds")
      assert.isAtMost(yield* Ref.get(count), 5 * 11)
    }))

  for (
    const [what, answers, lost] of [
      ["counts from when the renewal was sent, not from its answer", [3500], 4000],
      ["counts from the renewal that was sent last, also when the one before it is answered later", [3500, 500], 5000]
    ] as const
  ) {
    it.scoped(what, () =>
      Effect.gen(function*() {
        const sent = yield* Ref.make(0)
        // A renewal is sent every second. Those without a number are not answered.
        const renew = Effect.flatMap(Ref.getAndUpdate(sent, (n) => n + 1), (n) =>
          answers[n] === undefined ? Effect.never : Effect.delay(Effect.succeed(true), answers[n]))
        const lease = yield* hold(renew)
        yield* TestClock.adjust(lost - 1)
        assert.isFalse(yield* isLost(lease))
        yield* TestClock.adjust(1)
        assert.isTrue(yield* isLost(lease))
      }))
  }

  it.scoped("counts from when it was asked for, not from when the store gave it", () =>
    Effect.gen(function*() {
      const take = Effect.sleep("3 seconds")
      const holding = yield* Effect.fork(
        Lease.hold({ length: "4 seconds", take, renew: Effect.never, release: Effect.void })
      )
      yield* TestClock.adjust("3 seconds")
      const lost = yield* Fiber.join(holding)
      yield* TestClock.adjust("999 millis")
      assert.isFalse(yield* isLost(lost))
      yield* TestClock.adjust("1 millis")
      assert.isTrue(yield* isLost(lost))
    }))

  it.scoped("does not hold up the end of a node when the store does not answer", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Scope.extend(hold(Effect.succeed(true), Effect.uninterruptible(Effect.never)), scope)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("400 millis")
      yield* Fiber.join(closing)
    }))

  it.scoped("is released also by a node that is interrupted", () =>
    Effect.gen(function*() {
      const released = yield* Ref.make(false)
      const release = Effect.zipRight(Effect.yieldNow(), Ref.set(released, true))
      const node = yield* Effect.fork(
        Effect.scoped(Effect.zipRight(hold(Effect.succeed(true), release), Effect.never))
      )
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(node)
      assert.isTrue(yield* Ref.get(released))
    }))
})
