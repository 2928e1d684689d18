import { assert, describe, it } from "@effect/vitest"
import * as RawTool from "@effect-mcp/definition/RawTool"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Ask from "@effect-mcp/server/Ask"
import type { HttpOptions } from "@effect-mcp/server/HttpOptions"
import * as McpServer from "@effect-mcp/server/McpServer"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import type { Layer } from "effect"
import { Deferred, Effect, TestClock } from "effect"
import type { EndpointClient, TestExchange } from "../http/TestExchange.js"
import { answered, initialize, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import type { Options } from "./Modern.js"
import { envelope, stamp } from "./Modern.js"

const request = (method: string, params: JsonObject = {}, options?: Options, id: Message.RequestId = 1) =>
  Message.request(id, method, { ...params, ...envelope(options) })

/** The headers that repeat a body. */
const headers = ({ method, params }: Message.Request): Record<string, string> => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(typeof (params?.name ?? params?.uri) === "string"
    ? { "mcp-name": (params?.name ?? params?.uri) as string }
    : undefined)
})

/** A POST with the headers that it needs, changed by `others`. */
const post = (
  http: EndpointClient,
  body: Message.Request,
  others: Record<string, string | undefined> = {}
): TestExchange => http.post(body, { ...headers(body), ...others } as Record<string, string>)

const ask = (http: EndpointClient, body: Message.Request, others?: Record<string, string | undefined>) =>
  Effect.suspend(() => answered(post(http, body, others)))

const greet = request("tools/call", { name: "greet", arguments: { name: "Ada" } })

const refused = (exchange: TestExchange, status: number, code: number, id: Message.RequestId | undefined = 1) => {
  assert.deepStrictEqual(
    [exchange.status, exchange.json.error?.code, exchange.json.id],
    [status, code, id],
    exchange.text
  )
  assert.strictEqual(exchange.sent["content-type"], "application/json")
  assert.notProperty(exchange.sent, "mcp-session-id")
}

const modernOnly = (features: Layer.Layer<never, never, any>, options: McpServer.Options = {}) =>
  serve(features, { ...options, versions: ["2026-07-28"] }) as ReturnType<typeof serve<never, never>>

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
        }), { sessions }))
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
      serve(act(Effect.flatMap(RequestContext, ({ headers, principal, sessionId }) =>
        Effect.sync(() => {
          assert.deepStrictEqual([principal?.id, sessionId, headers["mcp-method"]], ["ada", undefined, "tools/call"])
        })))),
      (http) =>
        Effect.map(ask(http, request("tools/call", { name: "act" }), { authorization: "ada" }), (exchange) =>
          assert.notProperty(exchange.json.result, "isError")),
      {
        authenticate: ({ headers }) =>
          Effect.succeed({ id: headers.authorization! })
      }
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

describe("The status of an error", () => {
  const check = (
    name: string,
    server: ReturnType<typeof serve<never, never>>,
    run: (http: EndpointClient) => Effect.Effect<void>,
    options?: HttpOptions
  ) => it.effect(name, () => withEndpoint(server, run, options))

  check("MUST be 404 for a method that the server does not have", serve(GreetLive), (http) =>
    Effect.gen(function*() {
      for (
        const method of ["ping", "initialize", "logging/setLevel", "resources/subscribe", "prompts/list", "unknown"]
      ) {
        refused(yield* ask(http, request(method)), 404, -32601)
      }
    }))

  check("MUST be 400 for an envelope without its required fields", serve(GreetLive), (http) =>
    Effect.gen(function*() {
      const version = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" }
      refused(yield* http.ask(Message.request(1, "tools/list"), version), 400, -32602)
      const { _meta } = envelope()
      for (const key of ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"]) {
        const { [key as keyof typeof _meta]: _, ...rest } = _meta
        refused(yield* http.ask(Message.request(1, "tools/list", { _meta: rest }), version), 400, -32602)
      }
    }))

  check(
    "MUST be 400 for a revision that the server does not support",
    serve(GreetLive),
    (http) =>
      Effect.gen(function*() {
        const body = request("tools/list", {}, { version: "v999.0.0" })
        const exchange = yield* ask(http, body, { "mcp-protocol-version": "v999.0.0" })
        refused(exchange, 400, -32022)
        assert.strictEqual(exchange.json.error.data.requested, "v999.0.0")
        assert.include(exchange.json.error.data.supported, "2026-07-28")
      })
  )

  check(
    "is 200 for the errors of a handler",
    serve(GreetLive),
    (http) =>
      Effect.map(ask(http, request("tools/call", { name: "none" })), (exchange) => refused(exchange, 200, -32602))
  )

  check(
    "is 405 for GET and DELETE at a server with only modern revisions",
    modernOnly(GreetLive),
    (http) =>
      Effect.sync(() => {
        for (const exchange of [http.get(), http.delete()]) {
          assert.deepStrictEqual([exchange.status, exchange.sent.allow], [405, "POST, OPTIONS"])
        }
      })
  )

  check(
    "is 400, and names the revisions, for initialize at a server with only modern revisions",
    modernOnly(GreetLive),
    (http) =>
      Effect.gen(function*() {
        const exchange = yield* http.ask(initialize())
        refused(exchange, 400, -32022, 0)
        assert.deepStrictEqual(exchange.json.error.data, { supported: ["2026-07-28"], requested: "2025-11-25" })
        refused(yield* http.ask(Message.request(1, "ping")), 400, -32020)
      })
  )
})

describe("The headers of a modern POST", () => {
  it.effect("MUST repeat the revision, the method and the name of the body", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const wrong: ReadonlyArray<Record<string, string | undefined>> = [
          { "mcp-protocol-version": "2025-11-25" },
          { "mcp-protocol-version": undefined },
          { "mcp-method": undefined },
          { "mcp-method": "tools/list" },
          { "mcp-method": "TOOLS/CALL" },
          { "mcp-name": undefined },
          { "mcp-name": "other" },
          { "mcp-name": "=?base64?SGVsbG8?=" }
        ]
        for (const others of wrong) {
          refused(yield* ask(http, greet, others), 400, -32020)
        }
        for (
          const others of [{ "mcp-name": "  greet\t" }, { "mcp-name": "=?base64?Z3JlZXQ=?=" }, {
            "mcp-method": " tools/call "
          }]
        ) {
          assert.strictEqual((yield* ask(http, greet, others)).status, 200)
        }
        const list = request("tools/list")
        assert.strictEqual((yield* ask(http, list, { "mcp-name": "anything" })).status, 200)
      })))

  it.effect("are compared with the body before the revision is looked up", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        refused(yield* ask(http, request("tools/list", {}, { version: "v999.0.0" })), 400, -32020)
        // The envelope before the method and the name, these before the method is looked up.
        const incomplete = Message.request(1, "unknown", {
          _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" }
        })
        refused(yield* ask(http, incomplete, { "mcp-method": "x" }), 400, -32602)
        refused(yield* ask(http, request("unknown"), { "mcp-method": "x" }), 400, -32020)
      })))

  const Regional = McpServer.tool(
    RawTool.make("regional", {
      inputSchema: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          count: { type: "integer", "x-mcp-header": "Count" },
          at: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry" } } }
        }
      }
    } as any),
    () => Effect.succeed("done") as any
  )

  const call = (args: JsonObject) => request("tools/call", { name: "regional", arguments: args })

  it.effect("MUST repeat the arguments that the tool's schema marks", () =>
    withEndpoint(serve(Regional as any), (http) =>
      Effect.gen(function*() {
        const accepted: ReadonlyArray<readonly [JsonObject, Record<string, string>]> = [
          [{}, {}],
          [{ region: null }, {}],
          [{ region: "Hello" }, { "mcp-param-region": "Hello" }],
          [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8=?=" }],
          [{ region: "SGVsbG8=" }, { "mcp-param-region": "SGVsbG8=" }],
          [{ region: "=?base64?SGVsbG8=" }, { "mcp-param-region": "=?base64?SGVsbG8=" }],
          [{ region: "日本語" }, { "mcp-param-region": "=?base64?5pel5pys6Kqe?=" }],
          [{ region: "" }, { "mcp-param-region": "" }],
          [{ count: 42 }, { "mcp-param-count": "42.0" }],
          [{ at: { dry: false } }, { "mcp-param-dry": "false" }],
          [{}, { "mcp-param-other": "x" }]
        ]
        for (const [args, others] of accepted) {
          const { status, text } = yield* ask(http, call(args), others)
          assert.strictEqual(status, 200, JSON.stringify([args, others, text]))
        }
        const wrong: ReadonlyArray<readonly [JsonObject, Record<string, string>]> = [
          [{ region: "Hello" }, {}],
          [{ region: "Hello" }, { "mcp-param-region": "hello" }],
          [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }],
          [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }],
          [{ count: 42 }, { "mcp-param-count": "43" }],
          [{ at: { dry: false } }, {}]
        ]
        for (const [args, others] of wrong) refused(yield* ask(http, call(args), others), 400, -32020)
      })))
})

describe("A question over HTTP", () => {
  const asking = act(Effect.flatMap(ServerSession, ({ ask }) => Effect.orDie(ask({ sure: Ask.confirm("Sure?") }))))
  const call = (params: JsonObject = {}, capabilities: JsonObject = { elicitation: {} }) =>
    request("tools/call", { name: "act", ...params }, { capabilities })

  it.effect("ends the round with JSON, and its state is for one principal only", () =>
    withEndpoint(serve(asking), (http) =>
      Effect.gen(function*() {
        const as = (id: string) => ({ authorization: id })
        const first = (yield* ask(http, call(), as("ada"))).json.result
        assert.strictEqual(first.resultType, "input_required")
        const retry = call({ requestState: first.requestState, inputResponses: { sure: { action: "accept" } } })
        refused(yield* ask(http, retry, as("bob")), 200, -32602)
        assert.strictEqual((yield* ask(http, retry, as("ada"))).json.result.resultType, "complete")
      }), { authenticate: ({ headers }) => Effect.succeed({ id: headers.authorization! }) }))

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
    withEndpoint(serve(GreetLive, { listen: { max: 1 } }), (http) =>
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

describe("Closing the endpoint", () => {
  it.effect("answers what is running with 503, and interrupts it", () =>
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
          refused(exchange, 503, -32603)
          yield* Deferred.await(stopped)
        }))
    }))
})
