import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { answered, type TestExchange, withEndpoint } from "../http/TestExchange.js"
import { act, byHeader, GreetLive, serve, until } from "../Serving.js"
import { stamp } from "./Modern.js"
import { ask, greet, modernOnly, post, refused, request } from "./Posting.js"

describe("A modern POST", () => {
  for (const sessions of [true, false]) {
    it.effect(`is answered with JSON when its handler sends nothing first, ${sessions ? "beside" : "without"} sessions`, () =>
      withEndpoint(serve(GreetLive), (http) =>
        Effect.gen(function*() {
          const exchange = yield* ask(http, greet)
          assert.strictEqual(exchange.status, 200)
          assert.strictEqual(exchange.sent["content-type"], "application/json")
          assert.deepStrictEqual(exchange.json, {
            jsonrpc: "2.0",
            id: 1,
            result: { content: [{ type: "text", text: "Hello, Ada!" }], ...stamp }
          })
        }), { legacy: { sessions } }))
  }

  it.effect("is served beside a session of an older revision, whose id it ignores", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const session = yield* http.open()
        const exchange = yield* ask(session, greet, { "last-event-id": "1" })
        assert.strictEqual(exchange.json.result.resultType, "complete")
        assert.notProperty(exchange.sent, "mcp-session-id")
        assert.strictEqual((yield* session.ask(Message.request(1, "ping"))).status, 200)
      })))

  it.effect("is answered with an event stream when its handler sends something first", () =>
    withEndpoint(
      serve(act(Effect.flatMap(ServerSession, ({ progress }) => progress(1)))),
      (http) =>
        Effect.gen(function*() {
          const exchange = yield* ask(http, request("tools/call", { name: "act" }, { progressToken: "t" }))
          assert.isTrue(exchange.isStream)
          assert.strictEqual(exchange.sent["x-accel-buffering"], "no")
          assert.deepStrictEqual(exchange.messages.map(({ method }) => method), ["notifications/progress", undefined])
          assert.isTrue(exchange.events.every(({ id }) => id === undefined))
        })
    ))

  it.effect("is answered with JSON only, or with a stream only, where the endpoint says so", () =>
    Effect.gen(function*() {
      const progress = serve(act(Effect.flatMap(ServerSession, ({ progress }) => progress(1))))
      const body = request("tools/call", { name: "act" }, { progressToken: "t" })
      yield* withEndpoint(
        progress,
        (http) => Effect.map(ask(http, body), (exchange) => assert.isFalse(exchange.isStream)),
        { responses: "json" }
      )
      yield* withEndpoint(
        serve(GreetLive),
        (http) => Effect.map(ask(http, greet), (exchange) => assert.lengthOf(exchange.messages, 1)),
        { responses: "stream" }
      )
    }))

  it.effect("becomes a stream with comments when its answer takes long", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate))), (http) =>
        Effect.gen(function*() {
          const exchange = post(http, request("tools/call", { name: "act" }))
          assert.isUndefined(exchange.status)
          yield* TestClock.adjust("31 seconds")
          assert.isTrue(exchange.isStream)
          assert.include(exchange.text, ": ")
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.lengthOf(exchange.messages, 1)
        }))
    }))

  for (const progressed of [false, true]) {
    it.effect(`is cancelled by hanging up ${progressed ? "in the middle of its stream" : "before its answer"}`, () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        const handler = Effect.gen(function*() {
          const { progress } = yield* ServerSession
          if (progressed) yield* progress(1)
          yield* Deferred.succeed(started, undefined)
          return yield* Effect.never
        }).pipe(Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)))
        yield* withEndpoint(serve(act(handler)), (http) =>
          Effect.gen(function*() {
            const exchange = post(http, request("tools/call", { name: "act" }, { progressToken: 1 }))
            yield* Deferred.await(started)
            assert.strictEqual(exchange.isStream, progressed)
            exchange.hangUp()
            yield* Deferred.await(stopped)
            assert.lengthOf(exchange.messages, progressed ? 1 : 0)
          }))
      }))
  }

  it.effect("knows its headers and its principal, and not those of another", () =>
    withEndpoint(
      serve(
        act(Effect.flatMap(RequestContext, ({ client: { sessionId }, headers, principal }) =>
          Effect.sync(() => {
            assert.deepStrictEqual([principal?.id, sessionId, headers["mcp-method"]], ["ada", undefined, "tools/call"])
          }))),
        byHeader
      ),
      (http) =>
        Effect.map(ask(http, request("tools/call", { name: "act" }), { authorization: "ada" }), (exchange) =>
          assert.notProperty(exchange.json.result, "isError"))
    ))

  it.effect("of a notification is accepted with 202, and of a response is refused with 400", () =>
    withEndpoint(modernOnly(GreetLive), (http) =>
      Effect.sync(() => {
        const version = { "mcp-protocol-version": "2026-07-28" }
        const accepted = http.post(Message.notification("notifications/cancelled", { requestId: 1 }), version)
        assert.deepStrictEqual([accepted.status, accepted.text], [202, ""])
        assert.strictEqual(http.post(Message.notification("x"), { "mcp-protocol-version": "1999-01-01" }).status, 400)
        assert.strictEqual(http.post(Message.notification("x")).status, 400)
        assert.strictEqual(http.post(Message.success(1, {}), version).status, 400)
        assert.strictEqual(http.post("[]", version).status, 400)
        assert.strictEqual(http.post("{", version).json.error.code, -32700)
      })))
})

describe("A question over HTTP", () => {
  const asking = act(Effect.flatMap(ServerSession, ({ ask }) => Effect.orDie(ask({ sure: Ask.confirm("Sure?") }))))
  const call = (params: JsonObject = {}, capabilities: JsonObject = { elicitation: {} }) =>
    request("tools/call", { name: "act", ...params }, { capabilities })

  it.effect("ends the round with JSON, and its state is for one principal only", () =>
    withEndpoint(serve(asking, byHeader), (http) =>
      Effect.gen(function*() {
        const as = (id: string) => ({ authorization: id })
        const first = (yield* ask(http, call(), as("ada"))).json.result
        assert.strictEqual(first.resultType, "input_required")
        const retry = call({ requestState: first.requestState, inputResponses: { sure: { action: "accept" } } })
        refused(yield* ask(http, retry, as("bob")), 200, -32602)
        assert.strictEqual((yield* ask(http, retry, as("ada"))).json.result.resultType, "complete")
      })))

  const roots = McpServer.tool(
    RawTool.make("roots", { inputSchema: { type: "object" } } as any),
    () => Effect.flatMap(ServerSession, (one) => one.listRoots) as any
  )

  it.effect("MUST be refused with 400 and -32021 for a client that cannot answer it", () =>
    withEndpoint(serve(roots as any), (http) =>
      Effect.gen(function*() {
        const exchange = yield* ask(http, request("tools/call", { name: "roots" }))
        refused(exchange, 400, -32021)
        assert.deepStrictEqual(exchange.json.error.data, { requiredCapabilities: { roots: {} } })
      })))
})

describe("subscriptions/listen over HTTP", () => {
  const listen = (id: Message.RequestId) =>
    request("subscriptions/listen", { notifications: { toolsListChanged: true } }, {}, id)

  it.effect("is a stream that begins with the acknowledgement, and ends with its result when the endpoint closes", () =>
    Effect.gen(function*() {
      let exchange: TestExchange | undefined
      yield* withEndpoint(serve(GreetLive), (http) =>
        Effect.gen(function*() {
          exchange = post(http, listen("l"))
          yield* until(() => exchange!.messages.length === 1)
          assert.isTrue(exchange.isStream)
          assert.strictEqual(exchange.messages[0].method, "notifications/subscriptions/acknowledged")
        }), { responses: "json" })
      assert.isTrue(exchange!.ended)
      assert.deepStrictEqual(
        exchange!.messages.slice(1).map((
          { id, result }
        ) => [id, result._meta["io.modelcontextprotocol/subscriptionId"], result.resultType]),
        [["l", "l", "complete"]]
      )
    }))

  it.effect("ends when its client hangs up", () =>
    withEndpoint(serve(GreetLive, { limits: { maxListens: 1 } }), (http) =>
      Effect.gen(function*() {
        const first = post(http, listen(1))
        yield* until(() => first.messages.length === 1)
        const second = yield* ask(http, listen(2))
        refused(second, 503, -32603, 2)
        assert.property(second.sent, "retry-after")
        first.hangUp()
        yield* until(() => post(http, listen(3)).messages.length === 1)
      })))
})

describe("A POST beyond the limit of requests", () => {
  it.effect("waits and sends nothing, not even a comment, until another has ended", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate)), { limits: { maxExchanges: 1 } }), (http) =>
        Effect.gen(function*() {
          const first = post(http, request("tools/call", { name: "act" }))
          const second = post(http, request("tools/call", { name: "act" }))
          yield* TestClock.adjust("1 minute")
          assert.deepStrictEqual([first.isStream, second.status], [true, undefined])
          yield* Deferred.succeed(gate, undefined)
          assert.strictEqual((yield* answered(second)).status, 200)
        }))
    }))

  it.effect("is refused with 503, and not with a code that the revision forbids, when none may wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(
        serve(act(Deferred.await(gate)), { limits: { maxExchanges: 1, maxWaiting: 0 } }),
        (http) =>
          Effect.gen(function*() {
            const first = post(http, request("tools/call", { name: "act" }))
            const second = yield* ask(http, request("tools/call", { name: "act" }))
            refused(second, 503, -32603)
            assert.strictEqual(second.sent["retry-after"], "1")
            yield* Deferred.succeed(gate, undefined)
            assert.strictEqual((yield* answered(first)).status, 200)
          })
      )
    }))
})

describe("Closing the endpoint", () => {
  it.effect("answers what waits with 503, and what runs with an error after which no proxy sends it again", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const handler = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
      yield* withEndpoint(serve(act(handler), { limits: { maxExchanges: 1 } }), (http) =>
        Effect.gen(function*() {
          const [running, waiting] = [1, 2].map(() => post(http, request("tools/call", { name: "act" })))
          yield* Deferred.await(started)
          yield* http.endpoint.close
          refused(running!, 200, -32603)
          assert.notProperty(running!.sent, "retry-after")
          refused(waiting!, 503, -32603)
          assert.property(waiting!.sent, "retry-after")
        }))
    }))

  it.effect("interrupts what is running, after its answer", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const handler = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* withEndpoint(serve(act(handler)), (http) =>
        Effect.gen(function*() {
          const exchange = post(http, request("tools/call", { name: "act" }))
          yield* Deferred.await(started)
          yield* http.endpoint.close
          refused(exchange, 200, -32603)
          yield* Deferred.await(stopped)
        }))
    }))

  it.effect("ends a subscription that was still beginning when the endpoint drains, without a result", () =>
    Effect.gen(function*() {
      const middleware = Middleware.make(({ method }, next) => method === "subscriptions/listen" ? Effect.never : next)
      yield* withEndpoint(serve(GreetLive, { middleware }), (http) =>
        Effect.gen(function*() {
          const listen = post(http, request("subscriptions/listen", { notifications: { toolsListChanged: true } }))
          const draining = yield* Effect.fork(http.endpoint.drain)
          yield* TestClock.adjust("1 second")
          // MUST be acknowledged before anything else is sent.
          refused(listen, 200, -32603)
          yield* Fiber.join(draining)
        }), { drainTimeout: "5 seconds" })
    }))
})
