import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as EventStoreLaws from "@effect-mcp/testing/EventStoreLaws"
import { Effect, Option, TestClock } from "effect"

const key = (stream: string, session = "s"): EventStore.StreamKey => ({ session, stream })

const append = (store: EventStore.EventStoreService, stream: EventStore.StreamKey, from: number, to = from) =>
  Effect.forEach(
    Array.from({ length: to - from + 1 }, (_, i) => from + i),
    (position) => store.append(stream, { position, data: `m${position}` }),
    { discard: true }
  )

const positions = (store: EventStore.EventStoreService, stream: EventStore.StreamKey, after: number) =>
  Effect.map(
    store.after(stream, after),
    (events) => Option.getOrUndefined(Option.map(events, (all) => all.map(({ position }) => position)))
  )

describe("EventStore.memory", () => {
  it.scoped("returns the events after a position, in order", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* append(store, key("a"), 1, 3)
      // No event has this position, but events may come before and after it.
      yield* append(store, key("a"), 5)
      assert.deepStrictEqual(yield* positions(store, key("a"), 0), [1, 2, 3, 5])
      assert.deepStrictEqual(yield* positions(store, key("a"), 2), [3, 5])
      assert.deepStrictEqual(yield* positions(store, key("a"), 4), [5])
      assert.deepStrictEqual(yield* positions(store, key("a"), 5), [])
      assert.deepStrictEqual(yield* store.after(key("a"), 4), Option.some([{ position: 5, data: "m5" }]))
    }))

  it.scoped("keeps streams and sessions apart", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* append(store, key("a", "one"), 1)
      yield* append(store, key("a", "two"), 1, 2)
      yield* append(store, key("b", "one"), 7)
      assert.deepStrictEqual(yield* positions(store, key("a", "one"), 0), [1])
      assert.deepStrictEqual(yield* positions(store, key("a", "two"), 0), [1, 2])
      assert.isUndefined(yield* positions(store, key("b", "two"), 0))
      yield* store.forget("one")
      assert.isUndefined(yield* positions(store, key("a", "one"), 0))
      assert.isUndefined(yield* positions(store, key("b", "one"), 0))
      assert.deepStrictEqual(yield* positions(store, key("a", "two"), 0), [1, 2])
    }))

  it.scoped("drops the oldest events of a full stream, and returns None for a position before them", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory({ maxEvents: 3 })
      yield* append(store, key("a"), 1, 5)
      assert.deepStrictEqual(yield* positions(store, key("a"), 2), [3, 4, 5])
      assert.isUndefined(yield* positions(store, key("a"), 1))
      assert.isUndefined(yield* positions(store, key("a"), 0))
      // `-1` asks for all events that are left.
      assert.deepStrictEqual(yield* positions(store, key("a"), -1), [3, 4, 5])
    }))

  it.scoped("keeps 1,000 events of a stream by default", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* append(store, key("a"), 1, 1001)
      assert.lengthOf((yield* positions(store, key("a"), 1))!, 1000)
      assert.isUndefined(yield* positions(store, key("a"), 0))
    }))

  it.scoped("has a limit for all streams together, and drops events of the least recently used ones first", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory({ maxSize: 10_000 })
      const large = (stream: string, position: number) =>
        store.append(key(stream), { position, data: "x".repeat(2000) })
      yield* large("a", 1)
      yield* large("b", 1)
      yield* large("a", 2)
      yield* large("c", 1)
      yield* large("c", 2)
      assert.isUndefined(yield* positions(store, key("b"), 0))
      assert.deepStrictEqual(yield* positions(store, key("a"), 0), [1, 2])
      assert.deepStrictEqual(yield* positions(store, key("c"), 0), [1, 2])
      // A dropped event of a running stream is still known to be missing.
      yield* large("b", 2)
      assert.isUndefined(yield* positions(store, key("b"), 0))
      assert.deepStrictEqual(yield* positions(store, key("b"), 1), [2])
    }))

  it.scoped("does not store an event that is larger than maxSize", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory({ maxSize: 2000 })
      yield* store.append(key("a"), { position: 1, data: "x".repeat(10_000) })
      assert.isUndefined(yield* positions(store, key("a"), 0))
      yield* append(store, key("b"), 1)
      assert.deepStrictEqual(yield* positions(store, key("b"), 0), [1])
    }))

  it.scoped("keeps a finished stream for a while", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* append(store, key("a"), 1)
      yield* append(store, key("b"), 1)
      yield* store.finish(key("a"))
      yield* store.finish(key("unknown"))
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(yield* positions(store, key("a"), 0), [1])
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(yield* positions(store, key("a"), 0))
      assert.deepStrictEqual(yield* positions(store, key("b"), 0), [1])
    }))

  it.scoped("is one store for everything that is built with one layer", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      yield* append(store, key("a"), 1)
      assert.deepStrictEqual(yield* positions(yield* EventStore.EventStore, key("a"), 0), [1])
    }).pipe(Effect.provide(EventStore.layerMemory)))

  for (const { check, name } of EventStoreLaws.laws) {
    it.scoped(name, () => check(Effect.map(EventStore.memory(), (one) => [one, one] as const)))
  }
})

describe("An event store in memory that nobody uses", () => {
  it.scoped("forgets a stream within a second after its retention has passed", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory({ retention: "10 seconds" })
      let looks = 0
      yield* store.append(key("a"), {
        position: 1,
        // The store looks at what it removes.
        get data() {
          looks++
          return "m"
        }
      })
      yield* store.finish(key("a"))
      looks = 0
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(looks, 0)
      yield* TestClock.adjust("2 seconds")
      assert.isAtLeast(looks, 1)
    }))
})
