import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema } from "effect"
import { answered, assertRefused, call } from "../http/TestExchange.js"
import * as Cluster from "../nodes/Cluster.js"
import { act, logbook, serve, until } from "../Serving.js"
import { after, log, received, resuming } from "./Resuming.js"

/** A store that can lose what it stores, and does not know of it. */
const losing = Effect.map(EventStore.memory(), (memory) => {
  const faults = { loses: (_data: string) => false, isEndLost: false }
  const store: EventStore.EventStoreService = {
    open: (key, requests) => memory.open(key, requests),
    unfinished: (key) => memory.unfinished(key),
    append: (key, event) =>
      faults.isEndLost || faults.loses(event.data) ? Effect.succeed(true) : memory.append(key, event),
    after: (key, position) => memory.after(key, position),
    finish: (key) => faults.isEndLost ? Effect.void : memory.finish(key),
    forget: (session) => memory.forget(session)
  }
  return { faults, store, layer: Layer.succeed(EventStore.EventStore, store) }
})

const isResponse = (data: string) => data.includes("\"result\"")

describe("a stream that has finished", () => {
  for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    it.scoped(`gives what follows after any event, once, and nothing after its response, at ${version}`, () =>
      Effect.gen(function*() {
        const { layer } = yield* losing
        yield* resuming(
          act(Effect.zipRight(log("a"), log("b"))),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open(version)
              const ids = (yield* answered(client.post(call(1, "act")))).events.flatMap(({ id }) => id ?? [])
              const all = ["a", "b", 1]
              const given = yield* Effect.forEach(ids, (id) => Effect.map(answered(client.get(after(id))), received))
              assert.deepStrictEqual(given, ids.map((_, n) => all.slice(all.length - ids.length + n + 1)))
            }),
          {},
          layer
        )
      }))

    it.scoped(`is refused after any event when the store has lost its response, at ${version}`, () =>
      Effect.gen(function*() {
        const { faults, layer } = yield* losing
        yield* resuming(
          act(Effect.zipRight(log("a"), log("b"))),
          (http) =>
            Effect.gen(function*() {
              const client = yield* http.open(version)
              faults.loses = isResponse
              const { events } = yield* answered(client.post(call(1, "act")))
              const ids = events.flatMap(({ id }) => id ?? [])
              assert.isAtLeast(ids.length, 3)
              for (const id of ids) assertRefused(yield* answered(client.get(after(id))), 400, -32600, /resumed/)
            }),
          {},
          layer
        )
      }))
  }

  it.scoped("is refused when the store has lost one response of a batch, at 2025-03-26", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { node } = yield* Cluster.make(serve(Layer.merge(act(log("a")), act(gate.await, "late"))))
      const one = yield* node
      const client = yield* one.http.open("2025-03-26")
      const exchange = one.of(client).post([call(1, "act"), call(2, "late")])
      yield* until(() => exchange.messages.length === 2)
      one.faults.losesEvents = true
      yield* gate.open
      yield* answered(exchange)
      one.faults.losesEvents = false
      assert.deepStrictEqual(received(exchange), ["a", 1, 2])
      for (const { id } of exchange.events) {
        assertRefused(yield* answered(one.of(client).get(after(id!))), 400, -32600, /events after it are lost/)
      }
    }))

  it.scoped("is refused when the store has lost the end of a batch, also where no other node serves the session", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { faults, layer } = yield* losing
      yield* resuming(
        Layer.merge(act(log("a")), act(gate.await, "late")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-03-26")
            const exchange = client.post([call(1, "act"), call(2, "late")])
            yield* until(() => exchange.messages.length === 2)
            faults.isEndLost = true
            yield* gate.open
            yield* answered(exchange)
            assert.deepStrictEqual(received(exchange), ["a", 1, 2])
            for (const { id } of exchange.events) {
              assertRefused(yield* answered(client.get(after(id!))), 400, -32600, /events after it are lost/)
            }
          }),
        {},
        layer
      )
    }))

  it.scoped("is resumed also when its response is deeper than what a peer may send", () =>
    Effect.gen(function*() {
      const { layer } = yield* losing
      let deep: unknown = "x"
      for (let n = 0; n < 100; n++) deep = [deep]
      const Deep = Tool.make("deep", { success: Schema.Struct({ deep: Schema.Unknown }) })
      yield* resuming(
        McpServer.tool(Deep, () => Effect.as(log("a"), { deep })),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const { events, messages } = yield* answered(client.post(call(1, "deep")))
            const resumed = yield* answered(client.get(after(events.at(-2)!.id!)))
            assert.deepStrictEqual(resumed.messages, [messages.at(-1)])
          }),
        {},
        layer
      )
    }))

  it.scoped("is resumed also when its last response has no id, because an element of the batch was malformed", () =>
    Effect.gen(function*() {
      const { layer } = yield* losing
      yield* resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-03-26")
            const exchange = yield* answered(
              client.post([{ jsonrpc: "2.0", id: 1, method: "ping" }, { jsonrpc: "2.0" }])
            )
            assert.lengthOf(exchange.messages, 2)
            const resumed = yield* answered(client.get(after(exchange.events[0]!.id!)))
            assert.deepStrictEqual(resumed.messages, [exchange.messages[1]])
          }),
        { responses: "stream" },
        layer
      )
    }))

  it.scoped("is refused with 503 at the node that was the first of the session, and has not learned that another one serves it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(log("a"), Effect.never))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.expire
      const exchange = two.of(client).post(call(1, "act"))
      yield* until(() => exchange.messages.length === 1)
      assertRefused(yield* answered(one.of(client).get(after(exchange.lastId))), 503, -32000, /try again/)
    }))

  it.scoped("is refused with 503 at a node that learns only then that another one serves the session", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(log("a"), Effect.never))))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = one.of(client).post(call(1, "act"))
      yield* until(() => exchange.messages.length === 1)
      yield* one.stop
      yield* answered(two.of(client).post({ jsonrpc: "2.0", id: 2, method: "ping" }))
      yield* two.expire
      yield* answered(three.of(client).post({ jsonrpc: "2.0", id: 3, method: "ping" }))
      const stale = yield* answered(two.of(client).get(after(exchange.lastId)))
      assertRefused(stale, 503, -32000, /try again/)
      const resumed = yield* answered(three.of(client).get(after(exchange.lastId)))
      assert.deepStrictEqual(resumed.messages.map(({ error, id }) => [id, error.code]), [[1, -32000]])
    }))
})

describe("a session that has ended", () => {
  it.scoped("is over for its client, and the log has the bug of a store that cannot forget its events", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const { store } = yield* losing
      yield* resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            assert.strictEqual((yield* answered(client.delete())).status, 200)
            yield* until(() => lines.length > 0)
            assert.deepStrictEqual(lines.map(({ message }) => message), ["The event store failed"])
          }),
        {},
        Layer.succeed(EventStore.EventStore, { ...store, forget: () => Effect.die("a bug") })
      )
    }).pipe(Effect.provide(layer))
  })
})
