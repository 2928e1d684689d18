import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { answered, call } from "../http/TestExchange.js"
import { act, logbook, until } from "../Serving.js"
import { after, log, received, resuming } from "./Resuming.js"

const appendAll = (
  store: EventStore.EventStoreService,
  gate: Effect.Effect<void>
): Required<EventStore.EventStoreService>["appendAll"] =>
(key, events, isLast) =>
  Effect.zipRight(
    gate,
    Effect.zipLeft(
      Effect.map(Effect.forEach(events, (event) => store.append(key, event)), (stored) => !stored.includes(false)),
      isLast ? store.finish(key) : Effect.void
    )
  )

for (const isTogether of [false, true]) {
  describe(`a slow store of ${isTogether ? "several events" : "one event"} at a time`, () => {
    /** Every operation waits for the gate. */
    const slow = (gate: Effect.Effect<void>) =>
      Effect.map(EventStore.memory(), (store): EventStore.EventStoreService => ({
        open: (key, requests) => Effect.zipRight(gate, store.open(key, requests)),
        unfinished: (key) => Effect.zipRight(gate, store.unfinished(key)),
        append: (key, event) => Effect.zipRight(gate, store.append(key, event)),
        ...(isTogether ? { appendAll: appendAll(store, gate) } : {}),
        after: (key, position) => Effect.zipRight(gate, store.after(key, position)),
        finish: (key) => Effect.zipRight(gate, store.finish(key)),
        forget: (session) => store.forget(session)
      }))

    it.scoped("stores every event before the client gets it, in order", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const store = yield* slow(Deferred.await(gate))
        yield* resuming(
          act(Effect.forEach(["a", "b", "c"], log)),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open()
              const exchange = client.post(call(1, "act"))
              yield* Effect.yieldNow()
              assert.deepStrictEqual(received(exchange), [])
              yield* Deferred.succeed(gate, undefined)
              yield* answered(exchange)
              assert.deepStrictEqual(received(exchange), ["a", "b", "c", 1])
            }),
          {},
          Layer.succeed(EventStore.EventStore, store)
        )
      }))

    it.scoped("loses and repeats nothing when the client resumes during a write", () =>
      Effect.gen(function*() {
        const store = yield* slow(Effect.yieldNow())
        yield* resuming(
          act(Effect.forEach([..."abcdefgh"], (letter) => Effect.zipRight(Effect.yieldNow(), log(letter)))),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open()
              let exchange = client.post(call(1, "act"))
              let all = ""
              let last = ""
              for (let cuts = 0; cuts < 6 && !exchange.ended; cuts++) {
                yield* until(() => exchange.text !== "" || exchange.ended)
                exchange.hangUp()
                all += received(exchange).join("")
                last = exchange.lastId ?? last
                exchange = client.get(after(last))
              }
              yield* answered(exchange)
              assert.strictEqual(all + received(exchange).join(""), "abcdefgh1")
            }),
          {},
          Layer.succeed(EventStore.EventStore, store)
        )
      }))

    it.scoped("suspends senders when too many events wait for the store", () =>
      Effect.gen(function*() {
        let count = 0
        const gate = yield* Deferred.make<void>()
        const store = yield* slow(Deferred.await(gate))
        const handler = Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.zipRight(log("x"), Effect.sync(() => count++)))
        yield* resuming(
          act(handler),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open()
              const exchange = client.post(call(1, "act"))
              yield* Effect.yieldNow()
              assert.isBelow(count, 20)
              yield* Deferred.succeed(gate, undefined)
              yield* answered(exchange)
              assert.lengthOf(exchange.messages, 51)
            }),
          { limits: { capacity: 4 } },
          Layer.succeed(EventStore.EventStore, store)
        )
      }))
  })
}

const together = (
  store: EventStore.EventStoreService,
  appendAll: Required<EventStore.EventStoreService>["appendAll"]
): EventStore.EventStoreService => ({
  open: (key, requests) => store.open(key, requests),
  unfinished: (key) => store.unfinished(key),
  append: (key, event) => store.append(key, event),
  appendAll,
  after: (key, position) => store.after(key, position),
  finish: (key) => store.finish(key),
  forget: (session) => store.forget(session)
})

describe("an event store", () => {
  it.scoped("gives the client each event as soon as it is stored, with its id, and without one when it is refused", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      const gates = [yield* Effect.makeLatch(), yield* Effect.makeLatch(), yield* Effect.makeLatch()] as const
      let writes = 0
      const gated = together(store, (...args) =>
        Effect.suspend(() => {
          const gate = gates[writes++]!
          const isRefused = gate === gates[2]
          return isRefused ? Effect.as(gate.await, false) : appendAll(store, gate.await)(...args)
        }))
      const handler = Effect.gen(function*() {
        yield* log("a")
        yield* Effect.forEach(["b", "c"], log)
        yield* gates[0].open
        yield* until(() => writes === 2)
        yield* log("d")
        yield* gates[1].open
      })
      yield* resuming(
        act(handler),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-06-18")
            const exchange = client.post(call(1, "act"))
            yield* until(() => writes === 3)
            assert.deepStrictEqual(received(exchange), ["a", "b", "c"])
            yield* gates[2].open
            yield* answered(exchange)
            assert.deepStrictEqual(received(exchange), ["a", "b", "c", "d", 1])
            assert.deepStrictEqual(exchange.events.map(({ id }) => id !== undefined), [true, true, true, false, false])
          }),
        {},
        Layer.succeed(EventStore.EventStore, gated)
      )
    }))

  it.scoped("repeats no event that was stored together with those before a client resumed", () =>
    Effect.gen(function*() {
      const storing = yield* Effect.makeLatch(true)
      const [cut, resumed] = [yield* Effect.makeLatch(), yield* Effect.makeLatch()]
      const settled = Effect.repeatN(Effect.yieldNow(), 100)
      const store = yield* EventStore.memory()
      const gated = together(store, appendAll(store, storing.await))
      const handler = Effect.gen(function*() {
        yield* log("a")
        yield* cut.await
        yield* Effect.forEach(["b", "c"], log)
        yield* resumed.await
        yield* log("d")
      })
      yield* resuming(
        act(handler),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-11-25")
            const exchange = client.post(call(1, "act"))
            yield* until(() => exchange.messages.length === 1)
            exchange.hangUp()
            yield* storing.close
            yield* Effect.zipRight(cut.open, settled)
            const next = client.get(after(exchange.lastId))
            yield* Effect.zipRight(resumed.open, settled)
            yield* storing.open
            yield* answered(next)
            assert.deepStrictEqual(received(next), ["b", "c", "d", 1])
          }),
        {},
        Layer.succeed(EventStore.EventStore, gated)
      )
    }))

  for (
    const [how, broken] of [
      ["fails", () => Effect.die("the disk is full")],
      ["throws", () => {
        throw new Error("the disk is full")
      }]
    ] satisfies Array<[string, () => Effect.Effect<never>]>
  ) {
    it.scoped(`loses earlier events when it ${how}, and later ones still reach the client`, () => {
      const { layer, lines } = logbook()
      const store: EventStore.EventStoreService = {
        open: broken,
        unfinished: broken,
        append: broken,
        after: broken,
        finish: broken,
        forget: broken
      }
      return resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const exchange = yield* client.ask(call(1, "act"))
            assert.deepStrictEqual(received(exchange), ["a", 1])
            assert.strictEqual((yield* answered(client.get(after(exchange.lastId)))).status, 503)
            assert.include(lines.map(({ message }) => message), "The event store failed")
          }),
        {},
        Layer.succeed(EventStore.EventStore, store)
      ).pipe(Effect.provide(layer))
    })
  }
})

describe("a store that does not answer for a while", () => {
  it.scoped("refuses a client with 503, which gets everything afterwards; the log says once that it begins", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      const { layer, lines } = logbook()
      let isAway = false
      const reading = <A>(effect: Effect.Effect<A, EventStore.EventStoreError>) =>
        Effect.suspend(() => isAway ? new EventStore.EventStoreError({ message: "no answer" }) : effect)
      const flaky: EventStore.EventStoreService = {
        open: (key, requests) => store.open(key, requests),
        unfinished: (key) => reading(store.unfinished(key)),
        append: (key, event) => store.append(key, event),
        after: (key, position) => reading(store.after(key, position)),
        finish: (key) => store.finish(key),
        forget: (session) => store.forget(session)
      }
      yield* resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const { events } = yield* answered(client.post(call(1, "act")))
            for (const times of [1, 2]) {
              isAway = true
              for (let n = 0; n < 10; n++) {
                const refused = yield* answered(client.get(after(events[0]!.id!)))
                assert.strictEqual(refused.status, 503)
                assert.strictEqual(refused.sent["retry-after"], "1")
                assert.notInclude(JSON.stringify(refused.json), "no answer")
              }
              assert.lengthOf(lines.filter(({ message }) => message.includes("no answer")), times)
              isAway = false
              assert.deepStrictEqual(received(yield* answered(client.get(after(events[0]!.id!)))), ["a", 1])
            }
          }),
        {},
        Layer.succeed(EventStore.EventStore, flaky)
      ).pipe(Effect.provide(layer))
    }))
})

describe("a stream whose store is slow to open it", () => {
  it.scoped("names a place before every message in the first event, however late it begins the stream", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const store = yield* EventStore.memory()
      const late: EventStore.EventStoreService = {
        open: (key, requests) => Effect.zipRight(Deferred.await(gate), store.open(key, requests)),
        unfinished: (key) => store.unfinished(key),
        append: (key, event) => store.append(key, event),
        after: (key, position) => store.after(key, position),
        finish: (key) => store.finish(key),
        forget: (session) => store.forget(session)
      }
      yield* resuming(
        act(Effect.zipRight(log("a"), Deferred.succeed(gate, undefined))),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-11-25")
            const { events } = yield* answered(client.post(call(1, "act")))
            const resumed = yield* answered(client.get(after(events[0]!.id!)))
            assert.deepStrictEqual(received(resumed), ["a", 1])
          }),
        { drainTimeout: 0 },
        Layer.mergeAll(
          Layer.succeed(EventStore.EventStore, late),
          SessionDirectory.layerMemory,
          Inbox.layerMemory
        )
      )
    }))
})

describe("a stream that nodes share", () => {
  for (
    const [version, operations] of [["2025-11-25", "open, appendAll"], ["2025-06-18", "appendAll"]] as const
  ) {
    it.scoped(`is stored by ${operations} at ${version}, when its response is the first event that has an id`, () =>
      Effect.gen(function*() {
        const used: Array<string> = []
        const gate = yield* Deferred.make<void>()
        const store = yield* EventStore.memory()
        const recording = <A>(name: string, effect: Effect.Effect<A>) =>
          Effect.zipRight(Effect.sync(() => used.push(name)), effect)
        const recorded: EventStore.EventStoreService = {
          open: (key, requests) => recording("open", store.open(key, requests)),
          unfinished: (key) => store.unfinished(key),
          append: (key, event) => recording("append", store.append(key, event)),
          appendAll: (...args) => recording("appendAll", appendAll(store, Effect.void)(...args)),
          after: (key, position) => store.after(key, position),
          finish: (key) => recording("finish", store.finish(key)),
          forget: (session) => store.forget(session)
        }
        yield* resuming(
          act(Deferred.await(gate)),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open(version)
              const exchange = client.post(call(1, "act"))
              yield* TestClock.adjust("1 minute")
              yield* until(() => exchange.isStream)
              yield* Deferred.succeed(gate, undefined)
              yield* answered(exchange)
              assert.strictEqual(used.join(", "), operations)
              assert.deepStrictEqual(received(client.get(after(exchange.lastId))), [])
            }),
          { drainTimeout: 0 },
          Layer.mergeAll(
            Layer.succeed(EventStore.EventStore, recorded),
            SessionDirectory.layerMemory,
            Inbox.layerMemory
          )
        )
      }))
  }
})
