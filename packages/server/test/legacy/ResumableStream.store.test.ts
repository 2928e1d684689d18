import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Deferred, Effect, Layer } from "effect"
import { answered, call } from "../http/TestExchange.js"
import { act, logbook, until } from "../Serving.js"
import { after, log, received, resuming } from "./Resuming.js"

describe("a slow store", () => {
  /** Every operation waits for the gate. */
  const slow = (gate: Effect.Effect<void>) =>
    Effect.map(EventStore.memory(), (store): EventStore.EventStoreService => ({
      append: (key, event) => Effect.zipRight(gate, store.append(key, event)),
      after: (key, position) => Effect.zipRight(gate, store.after(key, position)),
      finish: (key) => Effect.zipRight(gate, store.finish(key)),
      forget: (session) => store.forget(session)
    }))

  it.effect("stores every event before the client gets it, in order", () =>
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

  it.effect("loses and repeats nothing when the client resumes during a write", () =>
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

  it.effect("suspends senders when too many events wait for the store", () =>
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
        { capacity: 4 },
        Layer.succeed(EventStore.EventStore, store)
      )
    }))

  it.effect("loses earlier events when it fails, and later ones still reach the client", () => {
    const { layer, lines } = logbook()
    const broken = Effect.die("the disk is full")
    const store: EventStore.EventStoreService = {
      append: () => broken,
      after: () => broken,
      finish: () => broken,
      forget: () => broken
    }
    return resuming(
      act(log("a")),
      (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = yield* client.ask(call(1, "act"))
          assert.deepStrictEqual(received(exchange), ["a", 1])
          assert.strictEqual(client.get(after(exchange.lastId)).status, 400)
          assert.include(lines.map(({ message }) => message), "The event store failed")
        }),
      {},
      Layer.succeed(EventStore.EventStore, store)
    ).pipe(Effect.provide(layer))
  })
})
