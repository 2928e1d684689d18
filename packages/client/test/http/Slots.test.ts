import { assert, describe, it } from "@effect/vitest"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import type { Slot } from "../../src/http/Slots.js"
import { Slots } from "../../src/http/Slots.js"

const make = (max = 2, capacity = 2) =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime<never>()
    const clock = yield* Effect.clock
    const alarm: DeadlineTimer.DeadlineTimer = new DeadlineTimer.DeadlineTimer(runtime, clock, (now) => slots.ring(now))
    const slots: Slots<string> = new Slots<string>(runtime, alarm, max, capacity)
    const log: Array<string> = []
    const start = (name: string, effect: Effect.Effect<void, string> = Effect.never): Slot<string> =>
      slots.start(
        () => Effect.zipRight(Effect.sync(() => log.push(`${name} begins`)), effect),
        (exit) => log.push(`${name} ${exit === undefined ? "never began" : exit._tag}`)
      )
    return { alarm, log, slots, start }
  })

const settle = Effect.repeatN(Effect.yieldNow(), 10)

describe("Slots", () => {
  it.effect("run a few at a time, and the others in order", () =>
    Effect.gen(function*() {
      const { log, slots, start } = yield* make()
      const gates = yield* Effect.replicateEffect(Deferred.make<void>(), 4)
      gates.forEach((gate, i) => start(String(i), Deferred.await(gate)))
      assert.deepStrictEqual(log, ["0 begins", "1 begins"])
      assert.strictEqual(slots.size, 4)
      yield* Deferred.succeed(gates[1]!, undefined)
      yield* settle
      assert.deepStrictEqual(log.slice(2), ["1 Success", "2 begins"])
      for (const gate of gates) yield* Deferred.succeed(gate, undefined)
      yield* slots.settled
      assert.strictEqual(slots.size, 0)
      assert.strictEqual(log.at(-1), "3 Success")
    }))

  it.effect("take work that is done at once, and work that fails or dies", () =>
    Effect.gen(function*() {
      const { log, slots, start } = yield* make(1)
      for (const effect of [Effect.void, Effect.fail("no"), Effect.die("oops"), Effect.void]) start("x", effect)
      yield* slots.settled
      assert.deepStrictEqual(
        log.filter((line) => !line.endsWith("begins")),
        ["x Success", "x Failure", "x Failure", "x Success"]
      )
    }))

  it.effect("give up what runs, and what waits without beginning it", () =>
    Effect.gen(function*() {
      const { log, slots, start } = yield* make(1)
      const first = start("first")
      const second = start("second")
      start("third")
      second.cancel()
      assert.deepStrictEqual(log, ["first begins", "second never began"])
      first.cancel()
      first.cancel()
      yield* settle
      assert.deepStrictEqual(log.slice(2), ["first Failure", "third begins"])
      slots.stop()
      yield* slots.settled
      assert.strictEqual(slots.size, 0)
    }))

  it.effect("give up what its own first steps have given up", () =>
    Effect.gen(function*() {
      const { slots } = yield* make()
      const exits: Array<Exit.Exit<void, string> | undefined> = []
      slots.start((slot) => Effect.zipRight(Effect.sync(() => slot.cancel()), Effect.never), (exit) => exits.push(exit))
      yield* slots.settled
      assert.isTrue(exits.length === 1 && exits[0] !== undefined && Exit.isInterrupted(exits[0]))
    }))

  it.effect("begin nothing while they are held", () =>
    Effect.gen(function*() {
      const { log, slots, start } = yield* make()
      slots.hold()
      slots.hold()
      start("x", Effect.void)
      slots.release()
      assert.deepStrictEqual(log, [])
      slots.release()
      assert.deepStrictEqual(log, ["x begins", "x Success"])
    }))

  it.effect("have no room while too many wait", () =>
    Effect.gen(function*() {
      const { slots, start } = yield* make(1, 1)
      const first = start("first")
      yield* slots.room
      start("second")
      assert.isTrue(slots.isFull)
      const waiting = yield* Effect.fork(slots.room)
      yield* settle
      assert.strictEqual((yield* Fiber.poll(waiting))._tag, "None")
      first.cancel()
      yield* Fiber.join(waiting)
    }))

  it.effect("give up what is due, and nothing else", () =>
    Effect.gen(function*() {
      const { alarm, log, slots, start } = yield* make(1)
      slots.expire(start("first"), alarm.now() + 1_000)
      slots.expire(start("second"), alarm.now() + 500)
      start("third")
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(log, ["first begins", "second never began"])
      yield* TestClock.adjust(500)
      yield* settle
      assert.deepStrictEqual(log.slice(2), ["first Failure", "third begins"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(slots.size, 1)
    }))
})
