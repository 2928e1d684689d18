import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Deferred, Effect, Layer } from "effect"
import type { Headers } from "../../src/http/HttpExchange.js"
import { Standalone } from "../../src/legacy/Standalone.js"
import type { Visitor } from "../http/Visit.js"
import { call, Visit } from "../http/Visit.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import { makeContext } from "./Context.js"
import { after, log, resuming, said } from "./Resuming.js"

/** A GET whose reader takes the first write and nothing more. */
const stalled = (client: Visitor, headers: Headers): Visit => {
  const visit = new Visit("GET", "/mcp", {
    host: "localhost",
    accept: "text/event-stream",
    ...client.session,
    ...headers
  })
  visit.stalled = true
  client.endpoint.handle(visit)
  return visit
}

const many = Effect.forEach(Array.from({ length: 20 }, (_, i) => i), log)

describe("a replay", () => {
  it.effect("is replayed no faster than it is read, to its end", () =>
    resuming(act(many), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const first = yield* client.ask(call(1, "act"))
        const visit = stalled(client, after(first.events[0]!.id!))
        assert.lengthOf(visit.messages, 1)
        for (const count of [5, 9, 13]) {
          visit.reader!.drained()
          assert.lengthOf(visit.messages, count)
          yield* Effect.yieldNow()
          yield* Effect.yieldNow()
        }
        visit.drain()
        yield* until(() => visit.ended)
        assert.deepStrictEqual(said(visit), said(first))
        assert.isFalse(visit.cut)
      }), { capacity: 4 }))

  it.effect("has one reader: a later one replaces an earlier one", () =>
    resuming(act(many), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const first = yield* client.ask(call(1, "act"))
        const id = after(first.events[0]!.id!)
        const readers = Array.from({ length: 5 }, () => stalled(client, id))
        yield* until(() => readers.at(-1)!.isStream)
        assert.deepStrictEqual(readers.map(({ ended }) => ended), [true, true, true, true, false])
        const last = client.get(id)
        yield* until(() => last.ended)
        assert.deepStrictEqual(said(last), said(first))
        assert.isTrue(readers.at(-1)!.cut)
        // And once more, when there is no reader.
        assert.deepStrictEqual(said(client.get(id)), said(first))
      }), { capacity: 4 }))

  it.effect("ends with its session, also while it is read", () =>
    resuming(act(many), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const first = yield* client.ask(call(1, "act"))
        const visit = stalled(client, after(first.events[0]!.id!))
        client.delete()
        visit.drain()
        yield* until(() => visit.ended)
        assert.isBelow(visit.messages.length, 20)
      }), { capacity: 4 }))

  it.effect("is followed by what handlers send meanwhile, without a gap", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* resuming(
        act(many.pipe(Effect.zipRight(Deferred.await(gate)), Effect.zipRight(log("live")))),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            const first = client.post(call(1, "act"))
            yield* until(() => first.messages.length === 20)
            first.hangUp()
            const visit = stalled(client, after(first.events[0]!.id!))
            yield* Deferred.succeed(gate, undefined)
            yield* Effect.yieldNow()
            visit.drain()
            yield* until(() => visit.ended)
            assert.deepStrictEqual(said(visit), [...Array(20).keys(), "live", 1])
          }),
        { capacity: 4 }
      )
    }))

  it.effect("ends where its stream was finished before it was found", () =>
    Effect.gen(function*() {
      const memory = yield* EventStore.memory()
      const finishing = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const finish: EventStore.EventStoreService["finish"] = (key) =>
        Deferred.succeed(finishing, undefined).pipe(
          Effect.zipRight(Deferred.await(gate)),
          Effect.zipRight(memory.finish(key))
        )
      const store: EventStore.EventStoreService = {
        append: (key, event) => memory.append(key, event),
        after: (key, position) => memory.after(key, position),
        finish,
        forget: (session) => memory.forget(session)
      }
      yield* resuming(
        act(log("a")),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            const first = client.post(call(1, "act"))
            yield* Deferred.await(finishing)
            first.hangUp()
            const visit = client.get(after(first.events[0]!.id!))
            yield* Deferred.succeed(gate, undefined)
            yield* until(() => visit.ended)
            assert.deepStrictEqual(said(visit), ["a", 1])
          }),
        {},
        Layer.succeed(EventStore.EventStore, store)
      )
    }))
})

describe("the standalone stream", () => {
  it.scoped("gives out no id twice when it is opened again with something missed", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      const context = yield* Effect.provideService(makeContext(), EventStore.EventStore, store)
      const standalone = new Standalone(context, { session: "s", stream: "g" })
      const visits = [1, 2, 3].map(() => new Visit("GET", "/mcp", {}))
      for (const [n, visit] of visits.entries()) {
        standalone.attach(visit, true)
        yield* standalone.send(Message.notification("notifications/x", { n }))
        visit.hangUp()
        if (n < 2) yield* standalone.send(Message.notification("notifications/x", { n: `missed ${n}` }))
      }
      const ids = visits.flatMap(({ events }) => events.flatMap(({ id }) => id ?? []))
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.deepStrictEqual(visits.map(({ events }) => events[0]!.retry), [1000, 1000, 1000])
      assert.deepStrictEqual(
        visits.flatMap(({ messages }) => messages.map(({ params }) => params.n)),
        [0, "missed 0", 1, "missed 1", 2]
      )
    }).pipe(Effect.provide(serve(GreetLive))))
})
