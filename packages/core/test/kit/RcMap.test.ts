import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import * as RcMap from "../../src/kit/RcMap.js"

/** A map whose values are numbered, and what has opened and closed. */
const numbered = (idle: "1 minute" | "Infinity", closing: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function*() {
    const events: Array<string> = []
    const ends: Array<Effect.Effect<void>> = []
    let count = 0
    const map = yield* RcMap.make<string, number, string>({
      idle: () => idle === "Infinity" ? Infinity : idle,
      open: (key, end) =>
        Effect.suspend(() => {
          const nth = ++count
          ends.push(end)
          events.push(`open ${key} ${nth}`)
          return Effect.as(
            Effect.addFinalizer(() => Effect.zipRight(Effect.sync(() => events.push(`close ${key} ${nth}`)), closing)),
            nth
          )
        })
    })
    return { map, events, end: (nth: number) => ends[nth - 1]! }
  })

/** The value of a key, and what gives it back. */
const held = (map: RcMap.RcMap<string, number, string>, key: string) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const value = yield* Scope.extend(map.get(key), scope)
    return { value, leave: Scope.close(scope, Exit.void) }
  })

describe("A value that callers share by key", () => {
  it.scoped("is opened once, and closes when it has had no caller for the time of idle", () =>
    Effect.gen(function*() {
      const { events, map } = yield* numbered("1 minute")
      assert.strictEqual(yield* Effect.scoped(map.get("a")), 1)
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual(yield* Effect.scoped(map.get("a")), 1)
      yield* TestClock.adjust("40 seconds")
      const { leave, value } = yield* held(map, "a")
      assert.strictEqual(value, 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(events, ["open a 1"])
      yield* leave
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(map.size(), 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(events, ["open a 1", "close a 1"])
      assert.strictEqual(map.size(), 0)
    }))

  it.scoped("that was taken away closes with its last caller, and does not end the next value of the key", () =>
    Effect.gen(function*() {
      const { end, events, map } = yield* numbered("1 minute")
      const old = yield* held(map, "a")
      yield* end(1)
      const next = yield* held(map, "a")
      assert.strictEqual(next.value, 2)
      yield* old.leave
      yield* Effect.yieldNow()
      assert.deepStrictEqual(events, ["open a 1", "open a 2", "close a 1"])
      yield* end(1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Effect.scoped(map.get("a")), 2)
      yield* next.leave
    }))

  it.scoped("that closes slowly does not end the next value of the key when it has closed", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { end, events, map } = yield* numbered("1 minute", Deferred.await(gate))
      yield* Effect.scoped(map.get("a"))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(events, ["open a 1", "close a 1"])
      const next = yield* held(map, "a")
      yield* Deferred.succeed(gate, undefined)
      yield* end(1)
      assert.strictEqual(yield* Effect.scoped(map.get("a")), next.value)
      yield* next.leave
    }))

  it.scoped("closes at once when it is taken away while nobody has it", () =>
    Effect.gen(function*() {
      const { events, map } = yield* numbered("Infinity")
      yield* Effect.scoped(map.get("a"))
      yield* TestClock.adjust("1 day")
      assert.isTrue(map.has("a"))
      yield* map.end("a")
      yield* Effect.yieldNow()
      assert.deepStrictEqual(events, ["open a 1", "close a 1"])
      assert.isFalse(map.has("a"))
    }))

  it.scoped("fails for all callers that wait for it, and is opened again for the next", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let count = 0
      const map = yield* RcMap.make<string, number, string>({
        idle: () => "1 minute",
        open: () =>
          Effect.suspend(() =>
            ++count === 1 ? Effect.zipRight(Deferred.await(gate), Effect.fail("no")) : Effect.succeed(count)
          )
      })
      const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.fork(Effect.flip(Effect.scoped(map.get("a")))))
      for (const fiber of waiting) yield* untilSuspended(fiber)
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of waiting) assert.strictEqual(yield* Fiber.join(fiber), "no")
      assert.strictEqual(map.size(), 0)
      assert.strictEqual(yield* Effect.scoped(map.get("a")), 2)
    }))

  it.scoped("opens with the services of the map, and goes on opening when its first caller is interrupted", () =>
    Effect.gen(function*() {
      const Caller = Context.GenericTag<string>("test/RcMap/Caller")
      const gate = yield* Deferred.make<void>()
      const map = yield* Effect.provideService(
        RcMap.make<string, unknown, never>({
          idle: () => "1 minute",
          open: () => Effect.zipRight(Deferred.await(gate), Effect.serviceOption(Caller))
        }),
        Caller,
        "the map"
      )
      const asked = Effect.provideService(Effect.scoped(map.get("a")), Caller, "a caller")
      const first = yield* Effect.fork(asked)
      yield* untilSuspended(first)
      const second = yield* Effect.fork(asked)
      yield* untilSuspended(second)
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      assert.deepInclude(yield* Fiber.join(second), { value: "the map" })
    }))

  it.scoped("closes with the map, beside all others, and callers that wait are interrupted", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const all = yield* Deferred.make<void>()
      let closing = 0
      const map = yield* Scope.extend(
        RcMap.make<string, string, never>({
          idle: () => "1 minute",
          open: (key) =>
            key === "never" ? Effect.never : Effect.as(
              Effect.addFinalizer(() =>
                Effect.suspend(() => ++closing === 3 ? Deferred.succeed(all, undefined) : Deferred.await(all))
              ),
              key
            )
        }),
        scope
      )
      yield* Effect.scoped(Effect.forEach(["a", "b", "c"], map.get))
      const waiting = yield* Effect.fork(Effect.scoped(map.get("never")))
      yield* untilSuspended(waiting)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(closing, 3)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(waiting)))
    }))
})
