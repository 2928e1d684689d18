import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Authenticator from "@effect-mcp/server/Authenticator"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Deferred, Effect, TestClock } from "effect"
import { answered, call, initialize, proper, withEndpoint } from "./http/TestExchange.js"
import { after, log, received } from "./legacy/Resuming.js"
import { act, GreetLive, identified, serve, until } from "./Serving.js"

/** Users that may be believed for so long, the one that `found` names at the moment. */
const valid = (...args: Parameters<typeof Authenticator.validFor>) => {
  const found = { user: "ada", times: 0 }
  const options = identified(() =>
    Effect.map(Authenticator.validFor(...args), () => {
      found.times++
      return found.user
    })
  )
  return { found, options }
}

describe("the stream of a user", () => {
  it.effect("ends after its life, when it waits for messages of the server", () => {
    const { found, options } = valid("5 minutes")
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        const { times } = found
        yield* TestClock.adjust("299 seconds")
        assert.deepStrictEqual([stream.status, stream.ended], [200, false])
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(stream.ended)
        assert.strictEqual(found.times, times)
      }))
  })

  it.effect("ends over HTTP+SSE after the life of the user of the newest request", () =>
    withEndpoint(serve(GreetLive, valid("5 minutes").options), (http) =>
      Effect.gen(function*() {
        const stream = http.send("GET", { host: "localhost", accept: "text/event-stream" }, "", "/sse")
        yield* until(() => stream.events.length > 0)
        const post = (message: Message.Message) => http.send("POST", proper, message, stream.events[0]!.data!)
        post(initialize("2024-11-05"))
        yield* until(() => stream.events.length > 1)
        yield* TestClock.adjust("4 minutes")
        post(Message.request(1, "ping"))
        yield* TestClock.adjust("299 seconds")
        assert.isFalse(stream.ended)
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(stream.ended)
      }), { legacy: { ssePath: "/sse" } }))

  it.effect("goes on while the authenticator finds the same user, and ends when it finds another", () => {
    const { found, options } = valid("1 day", "30 seconds")
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        const { times } = found
        yield* TestClock.adjust("5 minutes")
        assert.isAbove(found.times, times)
        assert.deepStrictEqual([stream.status, stream.ended], [200, false])
        found.user = "bob"
        yield* TestClock.adjust("31 seconds")
        assert.isTrue(stream.ended)
      }))
  })
})

describe("the stream of a call", () => {
  const calling = Effect.map(Deferred.make<void>(), (gate) => ({
    gate,
    features: act(Effect.zipRight(log("begun"), Deferred.await(gate)))
  }))

  it.effect("goes on to its end when the client cannot resume it, and nobody looks for its user again", () =>
    Effect.gen(function*() {
      const { features, gate } = yield* calling
      const { found, options } = valid("5 minutes", "30 seconds")
      yield* withEndpoint(serve(features, options), (http) =>
        Effect.gen(function*() {
          const exchange = (yield* http.open()).post(call(1, "act"))
          yield* until(() => exchange.isStream)
          const { times } = found
          yield* TestClock.adjust("10 minutes")
          assert.strictEqual(found.times, times)
          yield* Deferred.succeed(gate, undefined)
          assert.deepStrictEqual(received(yield* answered(exchange)), ["begun", 1])
        }))
    }))

  it.effect("ends after the life of its user when the client can resume it, and so does the resumed stream", () =>
    Effect.gen(function*() {
      const { features, gate } = yield* calling
      const { options } = valid("5 minutes")
      yield* withEndpoint(serve(features, options), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const first = client.post(call(1, "act"))
          yield* until(() => first.isStream)
          yield* TestClock.adjust("301 seconds")
          assert.isTrue(first.ended)
          const second = client.get(after(first.lastId))
          yield* TestClock.adjust("301 seconds")
          assert.deepStrictEqual([second.status, second.ended], [200, true])
          const third = client.get(after(first.lastId))
          yield* Deferred.succeed(gate, undefined)
          assert.deepStrictEqual(received(yield* answered(third)), [1])
        })).pipe(Effect.provide(EventStore.layerMemory()))
    }))
})
