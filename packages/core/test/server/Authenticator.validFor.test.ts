import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as RateLimit from "@effect-mcp/core/RateLimit"
import { Deferred, Effect, TestClock } from "effect"
import { answered, call, initialize, proper, withEndpoint } from "./http/TestExchange.js"
import { after, log, received } from "./legacy/Resuming.js"
import { act, GreetLive, identified, Sender, serve, until } from "./Serving.js"

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

  it.effect("ends after the life that the user had at first, also when the user is found again before", () =>
    withEndpoint(serve(GreetLive, valid("5 minutes", "30 seconds").options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        yield* TestClock.adjust("299 seconds")
        assert.isFalse(stream.ended)
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(stream.ended)
      })))

  it.effect("ends earlier when the user has a shorter life by now, which the server then finds in other intervals", () => {
    let life: Parameters<typeof Authenticator.validFor> = ["1 day", "30 seconds"]
    let times = 0
    const options = identified(() =>
      Effect.map(Effect.suspend(() => Authenticator.validFor(...life)), () => {
        times++
        return "ada"
      })
    )
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        life = ["5 minutes", "2 minutes"]
        yield* TestClock.adjust("31 seconds")
        const before = times
        yield* TestClock.adjust("298 seconds")
        assert.deepStrictEqual([times - before, stream.ended], [2, false])
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(stream.ended)
      }))
  })

  it.effect("is one request, which is counted once, however often its user is found again", () => {
    const requests = RateLimit.make("requests", { burst: 4, every: "1 hour" })
    const isForwarded: Array<boolean | undefined> = []
    const options = identified((request) => {
      isForwarded.push(request.isForwarded)
      return Effect.as(Effect.zipRight(requests.take("ada"), Authenticator.validFor("1 day", "30 seconds")), "ada")
    })
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const stream = client.get()
        yield* TestClock.adjust("95 seconds")
        assert.isFalse(stream.ended)
        assert.deepStrictEqual(isForwarded, [false, false, false, true, true, true])
        const statuses = [yield* client.ask(Message.request(1, "ping")), yield* client.ask(Message.request(2, "ping"))]
        assert.deepStrictEqual(statuses.map(({ status }) => status), [200, 429])
      }))
  })

  const unknown = (status: number) =>
    new HttpRefusal.HttpRefusal({ status, error: { code: -32000, message: "No answer" } })
  const answers: ReadonlyArray<readonly ["stays" | "ends", string, Authenticator.Refuses]> = [
    ["stays", "429", unknown(429)],
    ["stays", "500", unknown(500)],
    ["stays", "503", unknown(503)],
    ["stays", "an internal error", new McpError.InternalError({ message: "No answer" })],
    ["ends", "401", unknown(401)],
    ["ends", "499", unknown(499)],
    ["ends", "another error of the protocol", new McpError.InvalidParams({ message: "No answer" })]
  ]
  it.effect.each(answers)("%s when the authenticator, which is asked again, answers with %s", ([name, , refusal]) => {
    const isEnded = name === "ends"
    let answer: Effect.Effect<string, Authenticator.Refuses> = Effect.succeed("ada")
    const times: Array<string> = []
    const options = identified(() =>
      Effect.zipRight(
        Authenticator.validFor("2 minutes", "30 seconds"),
        Effect.suspend(() => {
          times.push("found")
          return answer
        })
      )
    )
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        const before = times.length
        answer = Effect.fail(refusal)
        yield* TestClock.adjust("65 seconds")
        assert.deepStrictEqual([stream.ended, times.length - before], isEnded ? [true, 1] : [false, 2])
        yield* TestClock.adjust("54 seconds")
        assert.strictEqual(stream.ended, isEnded)
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(stream.ended)
      }))
  })

  it.effect("ends when the user may not do anything any more", () => {
    let isPermitted = true
    const { authenticator } = valid("1 day", "30 seconds").options
    const options = {
      authenticator: Authenticator.scoped(
        Sender,
        Effect.map(authenticator.options, (options) => ({
          ...options,
          permit: () => isPermitted ? undefined : HttpRefusal.forbidden("Forbidden")
        }))
      )
    }
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        yield* TestClock.adjust("31 seconds")
        assert.isFalse(stream.ended)
        isPermitted = false
        yield* TestClock.adjust("31 seconds")
        assert.isTrue(stream.ended)
      }))
  })

  it.effect("that its client leaves while its user is found again interrupts that", () => {
    const finding = { isLast: false, begun: 0, interrupted: 0 }
    const options = identified(() =>
      Effect.zipRight(
        Authenticator.validFor("1 day", "30 seconds"),
        Effect.suspend(() => {
          if (!finding.isLast) return Effect.succeed("ada")
          finding.begun++
          return Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              finding.interrupted++
            }))
        })
      )
    )
    return withEndpoint(serve(GreetLive, options), (http) =>
      Effect.gen(function*() {
        const stream = (yield* http.open()).get()
        finding.isLast = true
        yield* TestClock.adjust("31 seconds")
        assert.deepStrictEqual([finding.begun, finding.interrupted], [1, 0])
        stream.hangUp()
        yield* until(() => finding.interrupted === 1)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(finding.begun, 1)
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
        })).pipe(Effect.provide(EventStore.layerMemory))
    }))
})
