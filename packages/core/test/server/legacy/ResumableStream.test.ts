import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Message from "@effect-mcp/core/Message"
import * as Registry from "@effect-mcp/core/Registry"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Layer, Option, TestClock } from "effect"
import { answered, call, type EndpointClient, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import { after, log, received, resuming } from "./Resuming.js"

/** Logs each letter when its gate opens, then ends. */
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
  it.scoped("begins with an event that has only an id, for clients of 2025-11-25 or later", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(1, "act"))
          assert.deepStrictEqual(exchange.events, [{
            event: undefined,
            id: exchange.lastId,
            retry: 500,
            data: ""
          }])
          assert.match(exchange.lastId, /^[\x21-\x7e]+$/)
          const standalone = client.get()
          assert.deepStrictEqual(standalone.events.map(({ data }) => data), [""])
          const old = yield* http.open("2025-06-18")
          const plain = old.post(call(2, "act"))
          assert.isUndefined(plain.status)
          assert.strictEqual(old.get().text, "")
          yield* go
          yield* answered(plain)
          assert.deepStrictEqual(received(plain), ["a", 2])
          assert.isTrue(plain.events.every(({ id }) => id !== undefined))
        }), { legacy: { retry: "500 millis" } })
    }))

  it.scoped("gives each event a unique id", () =>
    resuming(act(Effect.zipRight(log("a"), log("b"))), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const exchanges = yield* Effect.forEach([1, 2, 3], (id) => client.ask(call(id, "act")))
        const ids = exchanges.flatMap(({ events }) => events.map(({ id }) => id))
        assert.strictEqual(new Set(ids).size, 12)
      })))

  it.scoped("is not opened for a response that is ready at once: it is JSON", () =>
    resuming(GreetLive, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const exchange = client.post(Message.request(1, "ping"))
        assert.strictEqual(exchange.sent["content-type"], "application/json")
      })))

  it.scoped("continues where the client was cut off, without a gap or a repetition", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("abcd")
      yield* resuming(live, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const first = client.post(call(1, "act"))
          yield* go
          yield* until(() => received(first).length === 1)
          first.hangUp()
          yield* go
          yield* go
          const second = client.get(after(first.lastId))
          yield* until(() => received(second).length === 2)
          assert.deepStrictEqual(received(second), ["b", "c"])
          yield* go
          yield* answered(second)
          assert.deepStrictEqual(received(second), ["b", "c", "d", 1])
          // The first event names the position before all others.
          const again = client.get(after(first.events[0]!.id!))
          assert.deepStrictEqual(received(again), ["a", "b", "c", "d", 1])
          assert.isTrue(again.ended)
        }))
    }))

  it.scoped("is resumed before its first message", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const first = client.post(call(1, "act"))
          first.hangUp()
          const second = client.get(after(first.lastId))
          assert.isTrue(second.isStream)
          yield* go
          yield* answered(second)
          assert.deepStrictEqual(received(second), ["a", 1])
        }))
    }))

  it.scoped("delivers no message of another stream", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const standalone = client.get()
          const [one, other] = [client.post(call(1, "act")), client.post(call(2, "act"))]
          one.hangUp()
          yield* go
          yield* answered(other)
          assert.deepStrictEqual(received(client.get(after(one.lastId))), ["a", 1])
          assert.deepStrictEqual(received(other), ["a", 2])
          assert.deepStrictEqual(received(standalone), [])
        }))
    }))

  it.scoped("passes to the connection that resumes it, while the old connection looks alive", () =>
    Effect.gen(function*() {
      const { go, live } = yield* spelling("a")
      yield* resuming(live, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const [post, standalone] = [client.post(call(1, "act")), client.get()]
          const [postAgain, standaloneAgain] = [client.get(after(post.lastId)), client.get(after(standalone.lastId))]
          assert.isTrue(post.ended && standalone.ended)
          assert.isFalse(postAgain.ended || standaloneAgain.ended)
          yield* go
          yield* answered(postAgain)
          assert.deepStrictEqual([received(post), received(postAgain)], [[], ["a", 1]])
        }))
    }))

  it.scoped("is refused after an event that is unknown, of another session, or too old", () =>
    resuming(
      act(Effect.zipRight(log("a"), log("b"))),
      (http) =>
        Effect.gen(function*() {
          const [client, other] = [yield* http.open(), yield* http.open()]
          const exchange = yield* client.ask(call(1, "act"))
          const foreign = yield* other.ask(call(1, "act"))
          const [mark] = exchange.lastId.split("_")
          for (
            const id of [
              "nonsense",
              foreign.lastId,
              `${mark}_zz_1`,
              `${mark}_g_99`,
              `${mark}_g_10000000001`,
              // Its first two events have been dropped.
              exchange.events[0]!.id!
            ]
          ) {
            const refused = client.get(after(id))
            assert.strictEqual(refused.status, 400, id)
            assert.strictEqual(refused.json.error.code, -32600)
            assert.match(refused.json.error.message, /open a stream without Last-Event-ID/)
          }
        }),
      {},
      EventStore.layerMemoryWith({ maxEvents: 1 })
    ))

  it.scoped("is stored for retention after the response, and not longer", () =>
    resuming(act(log("a")), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const exchange = yield* client.ask(call(1, "act"))
        const id = exchange.events[0]!.id!
        yield* TestClock.adjust("4 minutes")
        assert.deepStrictEqual(received(client.get(after(id))), ["a", 1])
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(client.get(after(id)).status, 400)
      })))

  it.scoped("is dropped with its session", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.memory()
      yield* resuming(
        act(log("a")),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            yield* client.ask(call(1, "act"))
            const key = { session: client.session["mcp-session-id"]!, stream: "01" }
            assert.isTrue(Option.isSome(yield* Effect.orDie(store.after(key, 0))))
            client.delete()
            yield* http.endpoint.close
            assert.isTrue(Option.isNone(yield* Effect.orDie(store.after(key, 0))))
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

  it.scoped("stores messages without a reader, and delivers them once", () => {
    let registry!: Registry.RegistryService
    const features = Layer.merge(GreetLive, Layer.effectDiscard(Effect.map(announce, (one) => registry = one)))
    return resuming(features, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = client.get()
        first.hangUp()
        const changeTools = Effect.scoped(
          Layer.build(Layer.provide(act(Effect.void), Layer.succeed(Registry.Registry, registry)))
        )
        yield* changeTools
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

  it.scoped("ends the response with a retry time, and the handler continues", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* resuming(polled(gate), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(1, "act"))
          yield* until(() => exchange.ended)
          assert.isFalse(exchange.cut)
          assert.deepStrictEqual(exchange.events.map(({ data, retry }) => [data, retry]), [["", 1000], [
            undefined,
            1000
          ]])
          const polling = client.get(after(exchange.lastId))
          yield* Deferred.succeed(gate, undefined)
          yield* answered(polling)
          assert.deepStrictEqual(received(polling), [1])
        }))
    }))

  it.scoped("does nothing where the client cannot resume", () =>
    Effect.gen(function*() {
      for (const version of ["2025-11-25", "2025-06-18"]) {
        const gate = yield* Deferred.make<void>()
        const test = (http: EndpointClient) =>
          Effect.gen(function*() {
            const client = yield* http.open(version)
            const exchange = client.post(call(1, "act"))
            yield* Effect.yieldNow()
            assert.isFalse(exchange.ended)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(exchange)
            assert.strictEqual(exchange.json.id, 1)
          })
        yield* version === "2025-11-25" ? withEndpoint(serve(polled(gate)), test) : resuming(polled(gate), test)
      }
    }))
})

describe("a request to the client", () => {
  it.scoped("waits for a client that can resume", () =>
    Effect.gen(function*() {
      let roots: unknown
      const gate = yield* Deferred.make<void>()
      const handler = Effect.flatMap(ServerSession, (session) =>
        Effect.zipRight(Deferred.await(gate), Effect.orDie(session.request("roots/list"))))
      yield* resuming(
        act(Effect.map(handler, (answer) =>
          roots = answer)),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open("2025-11-25", { roots: {} })
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
