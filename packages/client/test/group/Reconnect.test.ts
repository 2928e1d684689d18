import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Deferred, Effect, Exit, Fiber, Queue, Schedule, TestClock } from "effect"
import * as Reconnect from "../../src/group/Reconnect.js"

const ends: Reconnect.Connection<number> = [1, Effect.void]

/** The fiber that keeps the connection, and the exit of the first time. */
const running = <E>(
  connect: Effect.Effect<Reconnect.Connection<number>, E, Scope.Scope>,
  schedule?: Schedule.Schedule<unknown, unknown>
) =>
  Effect.gen(function*() {
    const first = yield* Deferred.make<number, E>()
    const fiber = yield* Effect.forkScoped(Reconnect.run(connect, schedule, first))
    return { fiber, first: yield* Effect.exit(Deferred.await(first)) }
  })

describe("A connection", () => {
  it.scoped("is over when it ends, without a schedule", () =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<void>()
      const { fiber, first } = yield* running(Effect.succeed([1, Deferred.await(end)]))
      assert.deepStrictEqual(first, Exit.succeed(1))
      assert.isNull(fiber.unsafePoll())
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(fiber)
    }))

  it.scoped("that fails the first time is not tried again", () =>
    Effect.gen(function*() {
      let tries = 0
      const { fiber, first } = yield* running(
        Effect.suspend(() => Effect.fail(`no ${++tries}`)),
        Schedule.spaced("1 second")
      )
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(first, Exit.fail("no 1"))
      assert.strictEqual(tries, 1)
      yield* Fiber.join(fiber)
    }))

  it.scoped("that dies the first time is not tried again", () =>
    Effect.gen(function*() {
      const { fiber, first } = yield* running(Effect.die("broken"), Schedule.spaced("1 second"))
      assert.deepStrictEqual(first, Exit.die("broken"))
      yield* Fiber.join(fiber)
    }))

  it.scoped("is made again as the schedule says, which starts anew after each success", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const outcomes = yield* Queue.unbounded<"in" | "out">()
      yield* outcomes.offerAll(["in", "out", "out", "in", "out"])
      const start = yield* TestClock.currentTimeMillis
      yield* running(
        Effect.gen(function*() {
          const outcome = yield* outcomes.take
          log.push(`${outcome} ${((yield* TestClock.currentTimeMillis) - start) / 1000}`)
          return outcome === "out" ? yield* Effect.fail("out") : ends
        }),
        Schedule.exponential("1 second")
      )
      for (let i = 0; i < 20; i++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["in 0", "out 1", "out 3", "in 7", "out 8"])
    }))

  it.scoped("is given up when the schedule ends", () =>
    Effect.gen(function*() {
      const outcomes = yield* Queue.unbounded<Effect.Effect<Reconnect.Connection<number>, string>>()
      yield* outcomes.offerAll([Effect.succeed(ends), Effect.fail("one"), Effect.fail("two")])
      const { fiber } = yield* running(
        Effect.flatten(outcomes.take),
        Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(2))
      )
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
    }))

  it.scoped("is closed before the next one is made", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      yield* running(
        Effect.as(
          Effect.acquireRelease(Effect.sync(() => log.push("open")), () => Effect.sync(() => log.push("closed"))),
          ends
        ),
        Schedule.spaced("1 second")
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["open", "closed", "open", "closed"])
    }))
})
