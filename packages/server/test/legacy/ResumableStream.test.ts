import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as EventStore from "@effect-mcp/server/EventStore"
import * as Registry from "@effect-mcp/server/Registry"
import * as RequestContext from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import { Deferred, Effect, Layer, Option, TestClock } from "effect"
import type { Visitor } from "../http/Visit.js"
import { answered, call, visiting } from "../http/Visit.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import { after, log, resuming, said } from "./Resuming.js"

/** Logs each letter when the gate lets it, then ends. */
const spelling = (letters: string) =>
  Effect.gen(function*() {
    const gates = yield* Effect.forEach([...letters], () => Deferred.make<void>())
    const handler = Effect.forEach(
      [...letters],
      (letter, i) => Effect.zipRight(Deferred.await(gates[i]!), log(letter)),
      { discard: true }
    )
    let next = 0
    return { live: act(handler), go: Effect.suspend(() => Deferred.succeed(gates[next++]!, undefined)) }
  })

describe("a stream that can be resumed", () => {
  it.effect("begins with an event to come back with, for clients that know what to do with it", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(1, "act"))
          assert.deepStrictEqual(visit.events, [{
            event: undefined,
            id: visit.lastId,
            retry: 500,
            data: ""
          }])
          assert.match(visit.lastId, /^[\x21-\x7e]+$/)
          const standalone = client.get()
          assert.deepStrictEqual(standalone.events.map(({ data }) => data), [""])
          const old = yield* visitor.open("2025-06-18")
          const plain = old.post(call(2, "act"))
          assert.isUndefined(plain.status)
          assert.strictEqual(old.get().text, "")
          yield* go
          yield* answered(plain)
          assert.deepStrictEqual(said(plain), ["a", 2])
          assert.isTrue(plain.events.every(({ id }) => id !== undefined))
        }), { retry: "500 millis" })
    }))

  it.effect("gives each event an id that no other has", () =>
    resuming(act(Effect.zipRight(log("a"), log("b"))), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const visits = yield* Effect.forEach([1, 2, 3], (id) => client.ask(call(id, "act")))
        const ids = visits.flatMap(({ events }) => events.map(({ id }) => id))
        assert.strictEqual(new Set(ids).size, 12)
      })))

  it.effect("answers with JSON what is answered at once", () =>
    resuming(GreetLive, (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const visit = client.post(Message.request(1, "ping"))
        assert.strictEqual(visit.sent["content-type"], "application/json")
      })))

  it.effect("goes on where the client was cut off, without a gap and without repeating itself", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("abcd")
      yield* resuming(live, (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const first = client.post(call(1, "act"))
          yield* go
          yield* until(() => said(first).length === 1)
          first.hangUp()
          yield* go
          yield* go
          yield* Effect.yieldNow()
          const second = client.get(after(first.lastId))
          assert.deepStrictEqual(said(second), ["b", "c"])
          yield* go
          yield* answered(second)
          assert.deepStrictEqual(said(second), ["b", "c", "d", 1])
          // The first event names the position before all others.
          const again = client.get(after(first.events[0]!.id!))
          assert.deepStrictEqual(said(again), ["a", "b", "c", "d", 1])
          assert.isTrue(again.ended)
        }))
    }))

  it.effect("is resumed before its first message", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const first = client.post(call(1, "act"))
          first.hangUp()
          const second = client.get(after(first.lastId))
          assert.isTrue(second.isStream)
          yield* go
          yield* answered(second)
          assert.deepStrictEqual(said(second), ["a", 1])
        }))
    }))

  it.effect("gives nothing of another stream", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const standalone = client.get()
          const [one, other] = [client.post(call(1, "act")), client.post(call(2, "act"))]
          one.hangUp()
          yield* go
          yield* answered(other)
          assert.deepStrictEqual(said(client.get(after(one.lastId))), ["a", 1])
          assert.deepStrictEqual(said(other), ["a", 2])
          assert.deepStrictEqual(said(standalone), [])
        }))
    }))

  it.effect("is taken over by a client that reconnects, though its old connection looks alive", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const [post, standalone] = [client.post(call(1, "act")), client.get()]
          const [postAgain, standaloneAgain] = [client.get(after(post.lastId)), client.get(after(standalone.lastId))]
          assert.isTrue(post.ended && standalone.ended)
          assert.isFalse(postAgain.ended || standaloneAgain.ended)
          yield* go
          yield* answered(postAgain)
          assert.deepStrictEqual([said(post), said(postAgain)], [[], ["a", 1]])
        }))
    }))

  it.effect("is refused after an event that is unknown, of another session, or too old", () =>
    resuming(
      act(Effect.zipRight(log("a"), log("b"))),
      (visitor) =>
        Effect.gen(function*() {
          const [client, other] = [yield* visitor.open(), yield* visitor.open()]
          const visit = yield* client.ask(call(1, "act"))
          const foreign = yield* other.ask(call(1, "act"))
          const [mark] = visit.lastId.split("_")
          for (
            const id of [
              "nonsense",
              foreign.lastId,
              `${mark}_zz_1`,
              `${mark}_g_99`,
              // Its first two events have been dropped.
              visit.events[0]!.id!
            ]
          ) {
            const refused = client.get(after(id))
            assert.strictEqual(refused.status, 400, id)
            assert.strictEqual(refused.json.error.code, -32600)
            assert.match(refused.json.error.message, /open a stream without Last-Event-ID/)
          }
        }),
      {},
      EventStore.layerMemory({ maxEvents: 1 })
    ))

  it.effect("is kept for a while after the answer, and not longer", () =>
    resuming(act(log("a")), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const visit = yield* client.ask(call(1, "act"))
        const id = visit.events[0]!.id!
        yield* TestClock.adjust("4 minutes")
        assert.deepStrictEqual(said(client.get(after(id))), ["a", 1])
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(client.get(after(id)).status, 400)
      })))

  it.effect("goes with its session", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* resuming(
        act(log("a")),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open()
            yield* client.ask(call(1, "act"))
            const key = { session: client.session["mcp-session-id"]!, stream: "01" }
            assert.isTrue(Option.isSome(yield* store.after(key, 0)))
            client.delete()
            yield* visitor.endpoint.close
            assert.isTrue(Option.isNone(yield* store.after(key, 0)))
          }),
        {},
        Layer.succeed(EventStore.EventStore, store)
      )
    }))
})

describe("the standalone stream", () => {
  const announce = Effect.gen(function*() {
    const registry = yield* Registry.Registry
    return registry
  })

  it.effect("keeps what no reader took, and delivers it once", () => {
    let registry!: Registry.RegistryService
    const features = Layer.merge(GreetLive, Layer.effectDiscard(Effect.map(announce, (one) => registry = one)))
    return resuming(features, (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const first = client.get()
        first.hangUp()
        const tell = Effect.scoped(
          Layer.build(Layer.provide(act(Effect.void), Layer.succeed(Registry.Registry, registry)))
        )
        yield* tell
        yield* TestClock.adjust("1 seconds")
        const second = client.get()
        yield* until(() => second.messages.length > 0)
        assert.strictEqual(second.messages[0].method, "notifications/tools/list_changed")
        second.hangUp()
        const third = client.get()
        assert.deepStrictEqual(third.messages, [])
        const again = client.get(after(first.lastId))
        assert.deepStrictEqual(again.messages, second.messages)
      }))
  })
})

describe("closeStream", () => {
  const polled = (gate: Deferred.Deferred<void>) =>
    act(
      Effect.flatMap(RequestContext.RequestContext, (context) =>
        Effect.zipRight(context.closeStream, Deferred.await(gate)))
    )

  it.effect("ends the response with a retry time, and the handler goes on", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* resuming(polled(gate), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(1, "act"))
          yield* until(() => visit.ended)
          assert.isFalse(visit.cut)
          assert.deepStrictEqual(visit.events.map(({ data, retry }) => [data, retry]), [["", 1000], [undefined, 1000]])
          const polling = client.get(after(visit.lastId))
          yield* Deferred.succeed(gate, undefined)
          yield* answered(polling)
          assert.deepStrictEqual(said(polling), [1])
        }))
    }))

  it.effect("does nothing where the client could not come back", () =>
    Effect.gen(function*() {
      for (const version of ["2025-11-25", "2025-06-18"]) {
        const gate = yield* Deferred.make<void>()
        const test = (visitor: Visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open(version)
            const visit = client.post(call(1, "act"))
            yield* Effect.yieldNow()
            assert.isFalse(visit.ended)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(visit)
            assert.strictEqual(visit.json.id, 1)
          })
        yield* version === "2025-11-25" ? visiting(serve(polled(gate)), test) : resuming(polled(gate), test)
      }
    }))
})

describe("a request to the client", () => {
  it.effect("waits for a client that can come back", () =>
    Effect.gen(function*() {
      let roots: unknown
      const gate = yield* Deferred.make<void>()
      const handler = Effect.flatMap(ServerSession, (session) =>
        Effect.zipRight(Deferred.await(gate), Effect.orDie(session.request("roots/list"))))
      yield* resuming(
        act(Effect.map(handler, (answer) =>
          roots = answer)),
        (visitor) =>
          Effect.gen(function*() {
            const client = yield* visitor.open("2025-11-25", { roots: {} })
            const first = client.post(call(1, "act"))
            first.hangUp()
            yield* Deferred.succeed(gate, undefined)
            yield* Effect.yieldNow()
            const second = client.get(after(first.lastId))
            client.post(Message.success(second.messages[0].id, { roots: [] }))
            yield* answered(second)
            assert.deepStrictEqual(roots, { roots: [] })
          })
      )
    }))
})
