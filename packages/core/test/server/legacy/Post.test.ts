import { assert, describe, it } from "@effect/vitest"
import { NoBackChannel } from "@effect-mcp/core/LocalError"
import type { RequestId } from "@effect-mcp/core/Message"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Cause, Deferred, Effect, Exit, TestClock } from "effect"
import * as HandlerContext from "../../../src/server/runtime/HandlerContext.js"
import { answered, call, proper, TestExchange, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const asking = (then: (outcome: Exit.Exit<unknown, unknown>) => void) =>
  act(Effect.flatMap(ServerSession, (session) => Effect.map(Effect.exit(session.request("roots/list")), then)))

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

const steps = (count: number) =>
  act(
    Effect.flatMap(RequestContext.RequestContext, (context) =>
      Effect.forEach(
        Array.from({ length: count }, (_, i) => i + 1),
        (step) => context.progress(step),
        {
          discard: true
        }
      ))
  )

const roots = { capabilities: { roots: {} } }.capabilities

const rootsList = (exchange: { readonly messages: Array<any> }): RequestId | undefined =>
  exchange.messages.find(({ method }) => method === "roots/list")?.id

describe("a POST", () => {
  for (const sessions of [true, false]) {
    it.effect(`has a handler that knows whether its server is local, ${sessions ? "with" : "without"} sessions`, () => {
      const seen: Array<boolean | undefined> = []
      const look = act(Effect.map(ServerSession, (session) => seen.push(HandlerContext.isLocal(session))))
      return withEndpoint(serve(look), (http) =>
        Effect.gen(function*() {
          const { endpoint, session } = sessions ? yield* http.open() : http
          for (const isLocal of [true, false, undefined]) {
            const exchange = new TestExchange("POST", "/mcp", { ...proper, ...session }, JSON.stringify(call(1, "act")))
            endpoint.handle(Object.assign(exchange, { isLocal }))
            yield* answered(exchange)
          }
          assert.deepStrictEqual(seen, [true, false, undefined])
        }), { legacy: { sessions } })
    })
  }
})

describe("the answer to a POST", () => {
  it.effect("is JSON when nothing was sent before it, after any time", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate))), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(1, "act"))
          yield* TestClock.adjust("14 seconds")
          assert.isUndefined(exchange.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.strictEqual(exchange.sent["content-type"], "application/json")
        }))
    }))

  it.effect("is a stream when the handler sent something before: everything in order, the response last, and no event id", () =>
    withEndpoint(serve(steps(3)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const exchange = yield* client.ask(call(1, "act", {}, "token"))
        assert.isTrue(exchange.isStream)
        assert.deepStrictEqual(exchange.messages.map(({ id, params }) => id ?? params.progress), [1, 2, 3, 1])
        assert.deepStrictEqual([...new Set(exchange.events.map(({ event, id }) => `${event} ${id}`))], [
          "message undefined"
        ])
        assert.strictEqual(exchange.answers, 1)
      })))

  it.effect("is a stream when it takes longer than keepAlive", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate))), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const exchange = client.post(call(1, "act"))
          yield* TestClock.adjust("15 seconds")
          assert.isTrue(exchange.isStream)
          yield* TestClock.adjust("15 seconds")
          assert.strictEqual(exchange.text, ": \n\n")
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.deepStrictEqual(exchange.messages.map(({ id }) => id), [1])
        }))
    }))

  it.effect("is always a stream with the option \"stream\"", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        assert.match(client.session["mcp-session-id"]!, /.+/)
        const exchange = yield* client.ask(call(1, "greet", { name: "you" }))
        assert.isTrue(exchange.isStream)
        assert.deepStrictEqual(exchange.messages[0].result.content[0].text, "Hello, you!")
      }), { responses: "stream" }))

  it.effect("is always JSON with the option \"json\": notifications are dropped, and requests to the client fail", () => {
    let refusal: unknown
    const handler = Effect.flatMap(ServerSession, (session) =>
      log("hello").pipe(
        Effect.zipRight(Effect.exit(session.request("roots/list"))),
        Effect.map((exit) => {
          refusal = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        })
      ))
    return withEndpoint(serve(act(handler)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-11-25", roots, { accept: "application/json" })
        const exchange = yield* client.ask(call(1, "act"))
        assert.strictEqual(exchange.sent["content-type"], "application/json")
        assert.instanceOf(refusal, NoBackChannel)
      }), { responses: "json" })
  })

  it.effect("is an internal error when the result has no JSON form", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const exchange = yield* client.ask({ jsonrpc: "2.0", id: 1, method: "unknown/method" })
        assert.strictEqual(exchange.status, 200)
        assert.strictEqual(exchange.json.error.code, -32601)
      })))
})

describe("a request to the client on behalf of a request", () => {
  it.effect("is sent on the stream of that request, and answered in a POST of its own", () => {
    let outcome: Exit.Exit<unknown, unknown> | undefined
    return withEndpoint(serve(asking((exit) => outcome = exit)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-11-25", roots)
        const standalone = client.get()
        const exchange = client.post(call(1, "act"))
        yield* until(() => exchange.messages.length === 1)
        assert.isTrue(exchange.isStream)
        assert.strictEqual(client.post(Message.success(rootsList(exchange)!, { roots: [] })).status, 202)
        yield* answered(exchange)
        assert.deepStrictEqual(outcome, Exit.succeed({ roots: [] }))
        assert.strictEqual(exchange.messages.at(-1).id, 1)
        assert.strictEqual(standalone.text, "")
      }))
  })

  it.effect("fails at once when the client has disconnected and cannot resume", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const outcome = yield* Deferred.make<Exit.Exit<unknown, unknown>>()
      const handler = Effect.flatMap(ServerSession, (session) =>
        Deferred.await(gate).pipe(
          Effect.zipRight(Effect.exit(session.request("roots/list"))),
          Effect.flatMap((exit) => Deferred.succeed(outcome, exit))
        ))
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open("2025-11-25", roots)
          client.post(call(1, "act")).hangUp()
          yield* Deferred.succeed(gate, undefined)
          assert.isTrue(Exit.isFailure(yield* Deferred.await(outcome)))
        }))
    }))
})

describe("a reader that is slow", () => {
  it.effect("suspends only the handler that sends to it", () =>
    Effect.gen(function*() {
      let sent = 0
      const handler = Effect.zipRight(
        Effect.yieldNow(),
        Effect.forEach(Array.from({ length: 20 }), () => Effect.zipRight(log("x"), Effect.sync(() => sent++)), {
          discard: true
        })
      )
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const slow = client.post(call(1, "act"))
          slow.stalled = true
          yield* until(() => sent === 5)
          assert.strictEqual((yield* client.ask(Message.request(2, "ping"))).status, 200)
          assert.strictEqual(sent, 5)
          slow.drain()
          yield* answered(slow)
          assert.lengthOf(slow.messages, 21)
        }), { limits: { capacity: 4 } })
    }))

  it.effect("is cut off after stallTimeout, and the handler continues", () =>
    Effect.gen(function*() {
      const done = yield* Deferred.make<void>()
      const handler = Effect.yieldNow().pipe(
        Effect.zipRight(Effect.forEach(Array.from({ length: 20 }), () => log("x"), { discard: true })),
        Effect.zipRight(Deferred.succeed(done, undefined))
      )
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const slow = client.post(call(1, "act"))
          slow.stalled = true
          yield* until(() => slow.text !== "")
          yield* TestClock.adjust("31 seconds")
          assert.isTrue(slow.cut)
          yield* Deferred.await(done)
        }), { limits: { capacity: 4 } })
    }))
})
