import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type EventDatabase, toStore } from "../../../src/server/nodes/EventDatabase.js"
import { logbook } from "../Serving.js"

const event = (position: number) => ({ position, data: `${position}` })

/** A database that stores nothing, and fails so many times. */
const make = () => {
  const database = { failures: 0, isCurrent: true, calls: [] as Array<readonly [what: string, missing?: number]> }
  const write = (what: string, missing?: number) =>
    Effect.suspend(() => {
      database.calls.push(missing === undefined ? [what] : [what, missing])
      return database.failures-- > 0 ? Effect.fail("away") : Effect.succeed(database.isCurrent)
    })
  const all: EventDatabase<string> = {
    open: (_, __, missing) => write("open", missing),
    unfinished: () => Effect.fail("away"),
    append: (_, events, isLast, missing) => write(`append ${events.length}${isLast ? " and finish" : ""}`, missing),
    after: () => Effect.succeed(Option.some([])),
    finish: (_, missing) => write("finish", missing),
    forget: () => write("forget")
  }
  return { database, store: toStore(all, (error) => `The database is ${error}`) }
}

const key = { session: "s", stream: "a" }

describe("an event store over a database that fails", () => {
  it.effect("stores a gap with the next write, once, and gives no events from before it", () =>
    Effect.gen(function*() {
      const { database, store } = make()
      database.failures = 2
      assert.isTrue(yield* store.append(key, event(1)))
      assert.isTrue(yield* store.appendAll!(key, [event(2), event(3)], false))
      assert.isTrue(Option.isNone(yield* store.after(key, 2)))
      assert.isTrue(Option.isSome(yield* store.after(key, 3)))
      assert.isTrue(Option.isSome(yield* store.after({ ...key, stream: "b" }, 0)))
      yield* store.open(key, [1])
      yield* store.append(key, event(4))
      assert.deepStrictEqual(database.calls, [["append 1"], ["append 2", 1], ["open", 3], ["append 1"]])
    }))

  it.effect("finishes a stream whose last events are not stored", () =>
    Effect.gen(function*() {
      const { database, store } = make()
      database.failures = 1
      assert.isTrue(yield* store.appendAll!(key, [event(1), event(2)], true))
      assert.deepStrictEqual(database.calls, [["append 2 and finish"], ["finish", 2]])
    }))

  it.effect("remembers a gap that was refused because the epoch is over", () =>
    Effect.gen(function*() {
      const { database, store } = make()
      database.failures = 1
      yield* store.append(key, event(1))
      database.isCurrent = false
      assert.isFalse(yield* store.append(key, event(2)))
      assert.isTrue(Option.isNone(yield* store.after(key, 0)))
    }))

  it.effect("remembers the gaps of streams that go on, and of its last 10,000 others", () =>
    Effect.gen(function*() {
      const { database, store } = make()
      database.failures = Infinity
      const streams = Array.from({ length: 10_001 }, (_, n) => ({ session: "s", stream: `${n}` }))
      yield* Effect.forEach(streams, (key) => store.append(key, event(1)), { discard: true })
      // A stream that has finished is read with another key.
      assert.isTrue(Option.isSome(yield* store.after({ ...streams[0]! }, 0)))
      assert.isTrue(Option.isNone(yield* store.after({ ...streams[1]! }, 0)))
      assert.isTrue(Option.isNone(yield* store.after(streams[0]!, 0)))
    }))

  it.effect("logs once that it begins to fail, however many events it drops", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const { database, store } = make()
      for (const times of [1, 2]) {
        database.failures = Infinity
        for (let n = 1; n <= 10; n++) yield* store.append(key, event(n))
        yield* Effect.zipRight(store.finish(key), store.forget("s"))
        assert.deepStrictEqual(
          lines.map(({ message }) => message),
          Array.from({ length: times }, () => "The database of events failed: The database is away")
        )
        database.failures = 0
        yield* store.append(key, event(11))
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails a read with what has failed", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(make().store.unfinished(key))
      assert.strictEqual(message, "The database is away")
    }))
})
