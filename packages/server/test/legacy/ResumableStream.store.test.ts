import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Deferred, Effect, Layer } from "effect"
import { answered, call } from "../http/Visit.js"
import { act, logbook, until } from "../Serving.js"
import { after, log, resuming, said } from "./Resuming.js"

describe("a slow store", () => {
  /** Every operation waits for the gate. */
  const slow = (gate: Effect.Effect<void>) =>
    Effect.map(EventStore.memory(), (store): EventStore.EventStoreService => ({
      append: (key, event) => Effect.zipRight(gate, store.append(key, event)),
      after: (key, position) => Effect.zipRight(gate, store.after(key, position)),
      finish: (key) => Effect.zipRight(gate, store.finish(key)),
      forget: (session) => store.forget(session)
    }))

  it.effect("has every event before the client has it, in order", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const store = yield* slow(Deferred.await(gate))
      yield* resuming(
        act(Effect.forEach(["a", "b", "c"], log)),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            const visit = client.post(call(1, "act"))
            yield* Effect.yieldNow()
            assert.deepStrictEqual(said(visit), [])
            yield* Deferred.succeed(gate, undefined)
            yield* answered(visit)
            assert.deepStrictEqual(said(visit), ["a", "b", "c", 1])
          }),
        {},
        Layer.succeed(EventStore.EventStore, store)
      )
    }))

  it.effect("loses and repeats nothing when the client comes back meanwhile", () =>
    Effect.gen(function*() {
      const store = yield* slow(Effect.yieldNow())
      yield* resuming(
        act(Effect.forEach([..."abcdefgh"], (letter) => Effect.zipRight(Effect.yieldNow(), log(letter)))),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            let visit = client.post(call(1, "act"))
            let all = ""
            let last = ""
            for (let cuts = 0; cuts < 6 && !visit.ended; cuts++) {
              yield* until(() => visit.text !== "" || visit.ended)
              visit.hangUp()
              all += said(visit).join("")
              last = visit.lastId ?? last
              visit = client.get(after(last))
            }
            yield* answered(visit)
            assert.strictEqual(all + said(visit).join(""), "abcdefgh1")
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
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            const visit = client.post(call(1, "act"))
            yield* Effect.yieldNow()
            assert.isBelow(count, 20)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(visit)
            assert.lengthOf(visit.messages, 51)
          }),
        { capacity: 4 },
        Layer.succeed(EventStore.EventStore, store)
      )
    }))

  it.effect("costs the past and not the present when it breaks", () => {
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
      (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = yield* client.ask(call(1, "act"))
          assert.deepStrictEqual(said(visit), ["a", 1])
          assert.strictEqual(client.get(after(visit.lastId)).status, 400)
          assert.include(lines.map(({ message }) => message), "The event store failed")
        }),
      {},
      Layer.succeed(EventStore.EventStore, store)
    ).pipe(Effect.provide(layer))
  })
})
