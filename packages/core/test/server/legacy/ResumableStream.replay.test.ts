import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Message from "@effect-mcp/core/Message"
import { Deferred, Effect, Layer } from "effect"
import type { Headers } from "../../../src/server/http/HttpExchange.js"
import { Standalone } from "../../../src/server/legacy/Standalone.js"
import { call, type EndpointClient, TestExchange } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import { makeContext } from "./Context.js"
import { after, log, received, resuming } from "./Resuming.js"

/** A GET whose reader takes the first write and nothing more. */
const stalled = (client: EndpointClient, headers: Headers): TestExchange => {
  const exchange = new TestExchange("GET", "/mcp", {
    host: "localhost",
    accept: "text/event-stream",
    ...client.session,
    ...headers
  })
  exchange.stalled = true
  client.endpoint.handle(exchange)
  return exchange
}

const many = Effect.forEach(Array.from({ length: 20 }, (_, i) => i), log)

describe("a replay", () => {
  it.scoped("is written no faster than the client reads it, to its end", () =>
    resuming(act(many), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = yield* client.ask(call(1, "act"))
        const exchange = stalled(client, after(first.events[0]!.id!))
        assert.lengthOf(exchange.messages, 1)
        for (const count of [5, 9, 13]) {
          exchange.reader!.drained()
          assert.lengthOf(exchange.messages, count)
          yield* Effect.yieldNow()
          yield* Effect.yieldNow()
        }
        exchange.drain()
        yield* until(() => exchange.ended)
        assert.deepStrictEqual(received(exchange), received(first))
        assert.isFalse(exchange.cut)
      }), { limits: { capacity: 4 } }))

  it.scoped("has one reader: a later one replaces an earlier one", () =>
    resuming(act(many), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = yield* client.ask(call(1, "act"))
        const id = after(first.events[0]!.id!)
        const readers = Array.from({ length: 5 }, () => stalled(client, id))
        yield* until(() => readers.at(-1)!.isStream)
        assert.deepStrictEqual(readers.map(({ ended }) => ended), [true, true, true, true, false])
        const last = client.get(id)
        yield* until(() => last.ended)
        assert.deepStrictEqual(received(last), received(first))
        assert.isTrue(readers.at(-1)!.cut)
        // And once more, when there is no reader.
        assert.deepStrictEqual(received(client.get(id)), received(first))
      }), { limits: { capacity: 4 } }))

  it.scoped("ends with its session, also while the client reads it", () =>
    resuming(act(many), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = yield* client.ask(call(1, "act"))
        const exchange = stalled(client, after(first.events[0]!.id!))
        client.delete()
        exchange.drain()
        yield* until(() => exchange.ended)
        assert.isBelow(exchange.messages.length, 20)
      }), { limits: { capacity: 4 } }))

  it.scoped("is followed by what handlers send during it, without a gap", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* resuming(
        act(many.pipe(Effect.zipRight(Deferred.await(gate)), Effect.zipRight(log("live")))),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const first = client.post(call(1, "act"))
            yield* until(() => first.messages.length === 20)
            first.hangUp()
            const exchange = stalled(client, after(first.events[0]!.id!))
            yield* Deferred.succeed(gate, undefined)
            yield* Effect.yieldNow()
            exchange.drain()
            yield* until(() => exchange.ended)
            assert.deepStrictEqual(received(exchange), [...Array(20).keys(), "live", 1])
          }),
        { limits: { capacity: 4 } }
      )
    }))

  it.scoped("ends when its stream had finished before the client resumed it", () =>
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
        open: (key, requests) => memory.open(key, requests),
        unfinished: (key) => memory.unfinished(key),
        append: (key, event) => memory.append(key, event),
        after: (key, position) => memory.after(key, position),
        finish,
        forget: (session) => memory.forget(session)
      }
      yield* resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const first = client.post(call(1, "act"))
            yield* Deferred.await(finishing)
            first.hangUp()
            const exchange = client.get(after(first.events[0]!.id!))
            yield* Deferred.succeed(gate, undefined)
            yield* until(() => exchange.ended)
            assert.deepStrictEqual(received(exchange), ["a", 1])
          }),
        {},
        Layer.succeed(EventStore.EventStore, store)
      )
    }))
})

describe("the standalone stream", () => {
  it.scoped("uses no event id twice when it is opened again after missed events", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      const context = yield* Effect.provideService(makeContext(), EventStore.EventStore, store)
      const standalone = new Standalone(context, { session: "s", stream: "g" })
      const exchanges = [1, 2, 3].map(() => new TestExchange("GET", "/mcp", {}))
      for (const [n, exchange] of exchanges.entries()) {
        standalone.attach(exchange, true)
        yield* standalone.send(Message.notification("notifications/x", { n }))
        exchange.hangUp()
        if (n < 2) yield* standalone.send(Message.notification("notifications/x", { n: `missed ${n}` }))
      }
      const ids = exchanges.flatMap(({ events }) => events.flatMap(({ id }) => id ?? []))
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.deepStrictEqual(exchanges.map(({ events }) => events[0]!.retry), [1000, 1000, 1000])
      assert.deepStrictEqual(
        exchanges.flatMap(({ messages }) => messages.map(({ params }) => params.n)),
        [0, "missed 0", 1, "missed 1", 2]
      )
    }).pipe(Effect.provide(serve(GreetLive))))
})
