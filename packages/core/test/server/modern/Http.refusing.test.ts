import { assert, describe, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Cause, Effect, Layer } from "effect"
import { type EndpointClient, initialize, withEndpoint } from "../http/TestExchange.js"
import { GreetLive, serve } from "../Serving.js"
import { envelope } from "./Modern.js"
import { ask, greet, modernOnly, refused, request } from "./Posting.js"

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
    "is that of a refusal where middleware has seen it, and 200 where middleware has died of it",
    serve(GreetLive, {
      middleware: Middleware.make(({ method }, next) =>
        method === "x/died" ? Effect.orDie(next as Effect.Effect<unknown>) : next
      )
    }),
    (http) =>
      Effect.gen(function*() {
        refused(yield* ask(http, request("x/seen")), 404, -32601)
        refused(yield* ask(http, request("x/died")), 200, -32603)
      })
  )

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

  it.effect("are marked correctly, or the tool is not registered", () =>
    Effect.gen(function*() {
      const marked = (inputSchema: JsonObject) =>
        McpServer.tool(RawTool.make("marked", { inputSchema }), () => Effect.succeed("done") as any)
      for (
        const property of [{ type: "number", "x-mcp-header": "A" }, { type: "string", "x-mcp-header": "a b" }, {
          type: "array",
          items: { type: "string", "x-mcp-header": "A" }
        }]
      ) {
        const layer = serve(marked({ type: "object", properties: { property } }) as any)
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(layer)))
        assert.include(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "", `"marked" cannot be registered`)
      }
    }))

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

  it.effect("are compared with the arguments that the handler gets, mended by the tool's schema", () =>
    Effect.gen(function*() {
      const at = { at: "{\"dry\":false}" }
      yield* withEndpoint(serve(Regional as any), (http) =>
        Effect.gen(function*() {
          const accepted = yield* ask(http, call({ ...at, count: "42" }), {
            "mcp-param-dry": "false",
            "mcp-param-count": "42"
          })
          assert.deepNestedInclude(accepted.json, { "result.content[0].text": "done" })
          refused(yield* ask(http, call(at)), 400, -32020)
          refused(yield* ask(http, call({ count: "42" }), { "mcp-param-count": "43" }), 400, -32020)
        }))
      yield* withEndpoint(serve(Regional as any, { mendArguments: false }), (http) =>
        Effect.gen(function*() {
          const { json, status } = yield* ask(http, call(at))
          assert.strictEqual(status, 200)
          assert.isTrue(json.result.isError)
        }))
    }))

  it.effect("are compared of a tool that only some requests see, for those that see it; to others it is unknown", () => {
    const sees = Effect.map(RequestContext, ({ headers }) => headers["x-sees"] !== undefined)
    return withEndpoint(serve(Regional.pipe(Feature.visible(sees))), (http) =>
      Effect.gen(function*() {
        const wrong = { "mcp-param-region": "west" }
        const seen = { ...wrong, "x-sees": "yes" }
        refused(yield* ask(http, call({ region: "east" }), seen), 400, -32020)
        const unseen = yield* ask(http, call({ region: "east" }), wrong)
        const none = yield* ask(http, request("tools/call", { name: "none", arguments: {} }))
        assert.strictEqual(unseen.status, none.status)
        refused(unseen, 200, -32602)
      }))
  })
})
