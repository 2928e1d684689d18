import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Logger, Queue, Schedule, type Scope, TestClock } from "effect"
import * as Reconnect from "../../../src/client/group/Reconnect.js"

const ends: Reconnect.Connection<number> = [1, Effect.void]
const lasts = (duration: string): Reconnect.Connection<number> => [1, Effect.sleep(duration as "1 second")]

/** The fiber that keeps the connection, and the exit of the first time. */
const running = <E>(
  connect: Effect.Effect<Reconnect.Connection<number>, E, Scope.Scope>,
  schedule?: Schedule.Schedule<unknown, unknown>
) =>
  Effect.gen(function*() {
    const first = yield* Deferred.make<number, E>()
    const fiber = yield* Effect.forkScoped(
      Reconnect.run(connect, schedule && { name: "The server", schedule }, first)
    )
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

  it.scoped("that does not come back is named in the log, and so is one that dies, which is the end", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const outcomes = [Effect.succeed(ends), Effect.fail("away"), Effect.die("broken")]
      const connect = Effect.suspend(() => outcomes.shift() ?? Effect.never)
      const { fiber } = yield* running(connect, Schedule.spaced("1 second")).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message)))))
      )
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(logged, [
        "The server does not come back yet,away",
        "The server does not come back: connecting died,broken"
      ])
    }))

  /** When each connection was opened, in seconds, for connections that fail or last so many seconds. */
  const opened = (outcomes: ReadonlyArray<"fails" | number>, schedule: Schedule.Schedule<unknown, unknown>) =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const next = yield* Queue.unbounded<"fails" | number>()
      yield* Queue.offerAll(next, outcomes)
      const start = yield* Clock.currentTimeMillis
      yield* running(
        Effect.gen(function*() {
          const outcome = yield* Queue.take(next)
          log.push(((yield* Clock.currentTimeMillis) - start) / 1000)
          return outcome === "fails" ? yield* Effect.fail(outcome) : lasts(`${outcome} seconds`)
        }),
        schedule
      )
      yield* TestClock.adjust("10 minutes")
      return log
    })

  it.scoped("is made again as the schedule says, which starts anew after a connection that lasted", () =>
    Effect.gen(function*() {
      const log = yield* opened([1, "fails", "fails", 70, "fails", 1], Schedule.exponential("1 second"))
      assert.deepStrictEqual(log, [0, 2, 4, 8, 79, 81])
    }))

  it.scoped("that always ends early is made more and more slowly", () =>
    Effect.gen(function*() {
      const log = yield* opened(Array.from({ length: 20 }, () => 0), Schedule.exponential("1 second"))
      assert.deepStrictEqual(log, [0, 1, 3, 7, 15, 31, 63, 127, 255, 511])
    }))

  it.scoped("that always ends early is given up when the schedule ends", () =>
    Effect.gen(function*() {
      const log = yield* opened(
        Array.from({ length: 20 }, () => 0),
        Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(3))
      )
      assert.deepStrictEqual(log, [0, 1, 2, 3])
    }))

  it.scoped("is given up when the schedule ends", () =>
    Effect.gen(function*() {
      const outcomes = yield* Queue.unbounded<Effect.Effect<Reconnect.Connection<number>, string>>()
      yield* Queue.offerAll(outcomes, [Effect.succeed(ends), Effect.fail("one"), Effect.fail("two")])
      const { fiber } = yield* running(
        Effect.flatten(Queue.take(outcomes)),
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

  it.scoped("that is being released ends with the interruption that arrives meanwhile", () =>
    Effect.gen(function*() {
      const isReleased = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      let connections = 0
      const release = Effect.zipRight(Deferred.succeed(isReleased, undefined), Deferred.await(gate))
      // Effect loses interruptions only where another fiber, which has closed a scope before, has added the finalizer.
      const connect = Effect.fork(Effect.zipRight(
        Effect.scoped(Effect.addFinalizer(() => Effect.void)),
        Effect.as(Effect.addFinalizer(() => release), ends)
      )).pipe(Effect.flatMap(Fiber.join), Effect.tap(() => Effect.sync(() => connections++)))
      const { fiber } = yield* running(connect, Schedule.forever)
      yield* Deferred.await(isReleased)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      assert.strictEqual(connections, 1)
    }))
})
