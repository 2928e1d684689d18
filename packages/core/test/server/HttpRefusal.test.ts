import { assert, describe, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import { Cause, Effect, type Layer } from "effect"
import { answered, call, initialize, proper, withEndpoint } from "./http/TestExchange.js"
import { ask, request } from "./modern/Posting.js"
import { act, connect, GreetLive, identified, logbook, serve } from "./Serving.js"

const insufficient = HttpRefusal.forbidden(
  "Forbidden: the token lacks the scope write",
  HttpRefusal.challenge("Bearer", { error: "insufficient_scope", scope: "write" })
)

const error = { code: HttpRefusal.CODE, message: insufficient.message }

/** Where an application may refuse a call of the tool "act". */
const places = (refusal: HttpRefusal.HttpRefusal): ReadonlyArray<[string, Layer.Layer<Dispatcher>]> => [
  [
    "the middleware",
    serve(act(Effect.void), {
      middleware: Middleware.make((call, next) => call.method === "tools/call" ? Effect.fail(refusal) : next)
    })
  ],
  ["a handler", serve(McpServer.tool(Tool.make("act"), () => Effect.fail(refusal)))]
]

for (const [place, server] of places(insufficient)) {
  describe(`An HttpRefusal of ${place}`, () => {
    it.effect("decides the status and the headers of the response, in a session and without", () =>
      Effect.gen(function*() {
        for (const responses of ["auto", "json", "stream"] as const) {
          for (const sessions of [true, false]) {
            yield* withEndpoint(server, (http) =>
              Effect.gen(function*() {
                const client = sessions ? yield* http.open() : http
                const exchange = yield* client.ask(call(1, "act"))
                assert.strictEqual(exchange.status, 403)
                assert.include(exchange.sent, {
                  "content-type": "application/json",
                  "www-authenticate": "Bearer error=\"insufficient_scope\", scope=\"write\""
                })
                assert.deepStrictEqual(exchange.json, { jsonrpc: "2.0", id: 1, error })
                assert.strictEqual((yield* client.ask(Message.request(2, "ping"))).status, 200)
              }), { responses, legacy: { sessions } })
          }
        }
      }))

    it.effect("does so from 2026-07-28 on, with a code that the specification does not reserve", () =>
      Effect.gen(function*() {
        for (const responses of ["auto", "json", "stream"] as const) {
          yield* withEndpoint(server, (http) =>
            Effect.gen(function*() {
              const exchange = yield* ask(http, request("tools/call", { name: "act" }))
              assert.strictEqual(exchange.status, 403)
              assert.property(exchange.sent, "www-authenticate")
              assert.deepStrictEqual(exchange.json.error, { ...error, code: -32600 })
            }), { responses })
        }
      }))

    it.effect("keeps its own headers where the server has a default, in both eras", () => {
      const refusal = new HttpRefusal.HttpRefusal({ status: 503, headers: { "retry-after": "30" }, error })
      const [, away] = places(refusal).find(([name]) => name === place)!
      return withEndpoint(away, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          for (
            const exchange of [
              yield* client.ask(call(1, "act")),
              yield* ask(http, request("tools/call", { name: "act" }))
            ]
          ) {
            assert.deepStrictEqual([exchange.status, exchange.sent["retry-after"]], [503, "30"])
            assert.strictEqual(exchange.sent["content-type"], "application/json")
          }
        }))
    })

    it.effect("is an error among the others in a batch", () =>
      withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const client = yield* http.open("2025-03-26")
          const exchange = yield* client.ask([call(1, "act"), Message.request(2, "ping")])
          assert.strictEqual(exchange.status, 200)
          assert.deepStrictEqual(
            exchange.json.map(({ error, id }: any) => [id, error?.code]),
            [[1, HttpRefusal.CODE], [2, undefined]]
          )
        })))

    it.scoped("is a JSON-RPC error on other transports", () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        const refused = yield* peer.expectError(yield* peer.request("tools/call", { name: "act" }))
        assert.deepStrictEqual(refused, error)
      }).pipe(Effect.provide(server)))
  })
}

it.effect("An HttpRefusal of the middleware refuses the handshake, and leaves no session", () => {
  const middleware = Middleware.make((call, next) =>
    call.method === "initialize" ? Effect.fail(HttpRefusal.unauthorized("Bearer")) : next
  )
  return withEndpoint(serve(GreetLive, { middleware }), (http) =>
    Effect.gen(function*() {
      const exchange = yield* http.ask(initialize())
      assert.deepStrictEqual([exchange.status, exchange.sent["www-authenticate"]], [401, "Bearer"])
      assert.notProperty(exchange.sent, "mcp-session-id")
      assert.strictEqual(http.endpoint.sessions(), 0)
    }))
})

it.effect("An HttpRefusal after the response has begun is an event of its stream", () => {
  const server = serve(McpServer.tool(Tool.make("act"), () =>
    Effect.zipRight(
      Effect.flatMap(RequestContext, ({ progress }) => progress(1)),
      Effect.fail(insufficient)
    )))
  return withEndpoint(server, (http) =>
    Effect.gen(function*() {
      const client = yield* http.open()
      const old = yield* client.ask(call(1, "act", {}, "token"))
      const now = yield* ask(http, request("tools/call", { name: "act" }, { progressToken: "token" }))
      for (const { isStream, messages, sent, status } of [old, now]) {
        assert.deepStrictEqual([status, isStream, messages.length], [200, true, 2])
        assert.strictEqual(messages[1].error.message, insufficient.message)
        assert.notProperty(sent, "www-authenticate")
      }
    }))
})

for (const [place, server] of places(HttpRefusal.unauthorized("Bearer a=\"\r\nset-cookie: a=b\""))) {
  it.effect(`An HttpRefusal of ${place} that HTTP does not allow is a bug of the application, and adds no header`, () => {
    const { layer, lines } = logbook()
    return withEndpoint(server, (http) =>
      Effect.gen(function*() {
        for (
          const exchange of [
            yield* (yield* http.open()).ask(call(1, "act")),
            yield* ask(http, request("tools/call", { name: "act" }))
          ]
        ) {
          assert.strictEqual(exchange.status, 200)
          assert.notProperty(exchange.sent, "www-authenticate")
          assert.include(exchange.text, "Internal error")
        }
        assert.isTrue(lines.some(({ cause }) => /header that HTTP does not allow/.test(Cause.pretty(cause))))
      })).pipe(Effect.provide(layer))
  })
}

describe("A challenge", () => {
  it("quotes its values, and has no character that a header cannot have", () => {
    assert.strictEqual(HttpRefusal.challenge("DPoP"), "DPoP")
    assert.strictEqual(
      HttpRefusal.challenge("Bearer", { realm: "a \"b\" \\", scope: undefined, error: "x\r\ny: é\u0000" }),
      "Bearer realm=\"a \\\"b\\\" \\\\\", error=\"x??y: ??\""
    )
  })

  it("may stand beside others, and beside other headers", () => {
    const refusal = HttpRefusal.unauthorized(["Bearer", "DPoP algs=\"ES256\""], undefined, { "dpop-nonce": "n" })
    assert.deepStrictEqual(refusal.headers, {
      "www-authenticate": "Bearer, DPoP algs=\"ES256\"",
      "dpop-nonce": "n"
    })
  })
})

describe("HttpRefusal", () => {
  const rows: ReadonlyArray<[string, HttpRefusal.HttpRefusal, number, object]> = [
    ["unauthorized", HttpRefusal.unauthorized("Bearer realm=\"mcp\""), 401, {
      "www-authenticate": "Bearer realm=\"mcp\""
    }],
    ["forbidden", HttpRefusal.forbidden("Forbidden: not today"), 403, {}]
  ]
  for (const [name, refusal, status, headers] of rows) {
    it.effect(`${name} reaches the client when the authenticator fails with it`, () =>
      withEndpoint(serve(GreetLive, identified(() => Effect.fail(refusal))), (http) =>
        Effect.gen(function*() {
          const exchange = yield* answered(http.send("POST", proper, "{"))
          assert.strictEqual(exchange.status, status)
          assert.deepStrictEqual(exchange.sent, { ...headers, "content-type": "application/json" })
          assert.deepStrictEqual(exchange.json, {
            jsonrpc: "2.0",
            error: { code: HttpRefusal.CODE, message: refusal.message }
          })
        })))
  }
})
