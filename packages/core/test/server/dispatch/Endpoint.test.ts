import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Deferred, Effect, Fiber, Layer, TestClock } from "effect"
import {
  answered,
  assertRefused,
  call,
  initialize,
  proper,
  type TestExchange,
  withEndpoint
} from "../http/TestExchange.js"
import { act, GreetLive, identified, logbook, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("the request line and headers", () => {
  it.effect("refuses other paths, with any query", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        assertRefused(http.send("POST", proper, ping, "/other"), 404, -32000, /nothing at "\/other"/)
        assertRefused(http.send("POST", proper, ping, "/mcp//"), 404, -32000, /nothing at/)
        assertRefused(http.send("POST", proper, ping, "http://evil.com/mcp"), 404, -32000, /nothing at/)
        const first = yield* answered(http.send("POST", proper, initialize(), "/mcp?a=b"))
        assert.strictEqual(first.status, 200)
      }), { path: "/mcp" }))

  it.effect("serves any path where none is given", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const exchange = yield* answered(http.send("POST", proper, initialize(), "/"))
        assert.strictEqual(exchange.status, 200)
      })))

  it.effect("serves GET, POST and DELETE, and names them in a refusal", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        for (const method of ["PUT", "PATCH", "HEAD", "TRACE", "get", "OPTION"]) {
          const exchange = http.send(method, proper, ping)
          assertRefused(exchange, 405, -32000, /Method Not Allowed/)
          assert.strictEqual(exchange.sent.allow, "GET, POST, DELETE, OPTIONS")
          assert.isFalse(exchange.read)
        }
      })))

  it.effect("checks Host and Origin before anything else, for every method", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
          for (const url of ["/mcp", "/elsewhere"]) {
            const host = http.send(method, { ...proper, host: "evil.com" }, "{", url)
            assertRefused(host, 403, -32000, /the Host "evil.com" is not among/)
            const origin = http.send(method, { ...proper, origin: "http://evil.com" }, "{", url)
            assertRefused(origin, 403, -32000, /the Origin "http:\/\/evil.com" is not among/)
            assert.isFalse(host.read || origin.read)
          }
        }
      })))

  it.effect("tells the operator once how to allow a Host that it refuses", () => {
    const { layer, lines } = logbook()
    return withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const refused = { ...proper, host: "mcp.example" }
        for (let n = 0; n < 3; n++) assert.strictEqual(http.send("POST", refused, initialize()).status, 403)
        yield* until(() => lines.length > 0)
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warning"])
        assert.match(lines[0]!.message, /allowedHosts/)
      })).pipe(Effect.provide(layer))
  })

  it.effect("sends CORS headers to an allowed origin, with every answer", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const origin = "http://localhost:5173"
        const good = yield* http.ask(initialize(), { origin })
        const bad = http.post("{", { origin })
        for (const { sent } of [good, bad]) {
          assert.strictEqual(sent["access-control-allow-origin"], origin)
          assert.strictEqual(sent.vary, "Origin")
          assert.include(sent["access-control-expose-headers"], "Mcp-Session-Id")
        }
        const preflight = http.send("OPTIONS", {
          host: "localhost",
          origin,
          "access-control-request-method": "POST"
        })
        assert.strictEqual(preflight.status, 204)
        assert.strictEqual(preflight.sent["access-control-allow-origin"], origin)
        assert.include(preflight.sent["access-control-allow-methods"], "DELETE")
        const without = yield* http.ask(initialize())
        assert.notProperty(without.sent, "access-control-allow-origin")
      })))
})

describe("the body", () => {
  it.effect("is read unless the Accept header excludes both forms of the response", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        for (const accept of ["text/html", "application/json;q=0", "*/*;q=0", "application/jsonp, text/plain"]) {
          const exchange = http.post(initialize(), { accept })
          assertRefused(exchange, 406, -32000, /application\/json or text\/event-stream/)
          assert.isFalse(exchange.read)
        }
        const json = [undefined, "", ",", "*/*", "application/json", "application/*, text/event-stream;q=0.5"]
        for (const accept of json) {
          const exchange = yield* http.ask(initialize(), { accept })
          assert.deepStrictEqual([exchange.status, exchange.isStream], [200, false], accept)
        }
        for (const accept of ["text/event-stream", "text/*", "*/*, application/json;q=0"]) {
          const exchange = yield* http.ask(initialize(), { accept })
          assert.deepStrictEqual([exchange.status, exchange.isStream], [200, true], accept)
        }
      })))

  it.effect("is read only with a Content-Type of JSON", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        for (const type of [undefined, "", "text/plain", "text/plain; a=application/json", "application/jsonp"]) {
          const exchange = http.post(initialize(), { "content-type": type })
          assertRefused(exchange, 415, -32000, /Content-Type must be application\/json/)
          assert.isFalse(exchange.read)
        }
        assertRefused(http.post(initialize(), { "content-encoding": "gzip" }), 415, -32000, /Content-Encoding/)
        const type = "Application/JSON; charset=utf-8"
        assert.strictEqual((yield* http.ask(initialize(), { "content-type": type })).status, 200)
      })))

  it.effect("has a limit in bytes, with and without Content-Length", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        const honest = http.post("x".repeat(101), { "content-length": "101" })
        assertRefused(honest, 413, -32000, /may have at most 100 bytes/)
        assert.isFalse(honest.read)
        assertRefused(http.post("x".repeat(101)), 413, -32000, /may have at most 100 bytes/)
        assertRefused(http.post("x".repeat(100)), 400, -32700, /not JSON/)
      }), { limits: { maxBodyBytes: 100 } }))

  it.effect("is JSON in UTF-8, of a bounded depth", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        for (const text of ["", "{", "nonsense", "{} {}"]) {
          assertRefused(http.post(text), 400, -32700, /Parse error: the input is not JSON/)
        }
        assertRefused(http.post({ fault: "encoding" }), 400, -32700, /not UTF-8/)
        assertRefused(http.post({ fault: "unreadable" }), 400, -32700, /cannot be read/)
        assertRefused(http.post("[".repeat(65) + "]".repeat(65)), 400, -32600, /64 levels deep/)
        assertRefused(http.post(`{"jsonrpc":"2.0","method":"x","params":{"__proto__":1}}`), 400, -32600, /__proto__/)
      })))

  it.effect("is a message", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.sync(() => {
        for (const text of ["null", "1", "\"ping\"", "{}", `{"jsonrpc":"1.0","method":"ping"}`]) {
          assertRefused(http.post(text), 400, -32600, /Invalid request/)
        }
        // An error about a message with an id has that id.
        const exchange = http.post({ id: 99, method: "ping" })
        assert.strictEqual(exchange.status, 400)
        assert.strictEqual(exchange.json.id, 99)
        assert.strictEqual(exchange.json.error.code, -32600)
      })))
})

describe("a modern message to a server with no modern revision", () => {
  const legacyOnly = serve(GreetLive, { versions: Version.legacy })
  const KEY = "io.modelcontextprotocol/protocolVersion"
  const modern = (version: unknown, id: Message.RequestId = 7) =>
    Message.request(id, "tools/list", { _meta: { [KEY]: version, "io.modelcontextprotocol/clientCapabilities": {} } })
  const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

  const assertUnsupported = (exchange: TestExchange, requested: string, id: Message.RequestId | undefined = 7) => {
    assert.strictEqual(exchange.status, 400)
    assert.strictEqual(exchange.sent["content-type"], "application/json")
    assert.notProperty(exchange.sent, "mcp-session-id")
    const { error: { code, data, message }, ...rest } = exchange.json
    assert.deepStrictEqual(rest, { jsonrpc: "2.0", ...(id === undefined ? undefined : { id }) })
    assert.strictEqual(code, -32602)
    assert.deepStrictEqual(data, { requested, supported: legacyVersions })
    assert.include(message, `Unsupported protocol version: ${requested}`)
  }

  for (const sessions of [true, false]) {
    const kind = sessions ? "with sessions" : "without sessions"
    it.effect(`MUST be answered with 400, and no error of a modern server, ${kind}`, () =>
      withEndpoint(legacyOnly, (http) =>
        Effect.sync(() => {
          assertUnsupported(http.post(modern("2026-07-28"), { "mcp-protocol-version": "2026-07-28" }), "2026-07-28")
          assertUnsupported(http.post(modern("2026-07-28")), "2026-07-28")
          assertUnsupported(http.post(modern("2099-01-01", "x")), "2099-01-01", "x")
          // The header alone makes the message modern, as does an envelope that is broken.
          assertUnsupported(http.post(ping, { "mcp-protocol-version": "2026-07-28" }), "2026-07-28", 1)
          assertUnsupported(http.post(modern(1), { "mcp-protocol-version": "2026-07-28" }), "2026-07-28")
          // A client of both eras falls back to `initialize` when it gets this.
          const discover = http.post(Message.request(0, "server/discover", { _meta: { [KEY]: "2026-07-28" } }))
          assert.deepStrictEqual([discover.status, discover.json.id, discover.json.error.code], [400, 0, -32601])
        }), { legacy: { sessions } }))
  }

  it.effect("is refused also as a notification, without an id", () =>
    withEndpoint(legacyOnly, (http) =>
      Effect.sync(() => {
        const cancelled = Message.notification("notifications/cancelled", { requestId: 1 })
        const exchange = http.post(cancelled, { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(exchange.status, 400)
        assert.notProperty(exchange.json, "id")
        assert.strictEqual(exchange.json.error.code, -32602)
      })))

  it.effect("is refused also in a session, which continues", () =>
    withEndpoint(legacyOnly, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        assertUnsupported(client.post(modern("2026-07-28")), "2026-07-28")
        assert.strictEqual((yield* client.ask(ping)).status, 200)
      })))

  it.effect("names the version in at most a line, and the revisions that this server supports", () =>
    withEndpoint(serve(GreetLive, { versions: ["2025-06-18"] }), (http) =>
      Effect.sync(() => {
        const { data } = http.post(modern("x".repeat(10_000))).json.error
        assert.isBelow(data.requested.length, 200)
        assert.deepStrictEqual(data.supported, ["2025-06-18"])
      })))

  it.effect("is served when its envelope names a legacy revision of the server", () =>
    withEndpoint(legacyOnly, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        assert.strictEqual((yield* client.ask(modern("2025-11-25"))).status, 200)
      })))

  it.effect("is not initialize, with any header", () =>
    withEndpoint(legacyOnly, (http) =>
      Effect.gen(function*() {
        const exchange = yield* http.ask(initialize(), { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(exchange.json.result.protocolVersion, "2025-11-25")
      })))
})

describe("Endpoint.close", () => {
  it.effect("answers running requests, ends streams, and refuses new requests", () =>
    withEndpoint(serve(act(Effect.never)), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const other = yield* http.open()
        const stream = client.get()
        const exchanges = [client.post(call(1, "act")), other.post(call(1, "act"))]
        yield* http.endpoint.close
        assert.isTrue(stream.ended)
        for (const exchange of exchanges) {
          assert.deepStrictEqual(exchange.json, {
            jsonrpc: "2.0",
            id: 1,
            error: { code: -32000, message: "Connection closed" }
          })
        }
        assert.strictEqual(http.endpoint.sessions(), 0)
        const late = client.post(ping)
        assertRefused(late, 503, -32000, /closing/)
        assert.strictEqual(late.sent.connection, "close")
        yield* http.endpoint.close
      })))

  it.effect("refuses a request that is being authenticated", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const pending: Array<TestExchange> = []
      yield* withEndpoint(serve(GreetLive, identified(() => Effect.as(Deferred.await(gate), "ada"))), (http) =>
        Effect.gen(function*() {
          pending.push(
            http.send("GET", { ...proper, accept: "text/event-stream" }, "", "/sse"),
            http.get(),
            http.delete(),
            http.post(initialize())
          )
          yield* http.endpoint.close
          yield* Deferred.succeed(gate, undefined)
          for (const exchange of pending) {
            assertRefused(yield* answered(exchange), 503, -32000, /closing/)
          }
          assert.strictEqual(http.endpoint.sessions(), 0)
        }), { legacy: { ssePath: "/sse" } })
    }))

  it.effect("waits for a session layer that is slow to release no longer than `closeTimeout`, and says so", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { layer, lines } = logbook()
      const server = serve(GreetLive, {
        session: Layer.scopedDiscard(Effect.addFinalizer(() => Deferred.await(gate)))
      })
      yield* withEndpoint(server, (http) =>
        Effect.gen(function*() {
          yield* http.open()
          const closing = yield* Effect.fork(Effect.uninterruptible(http.endpoint.close))
          yield* TestClock.adjust("2 seconds")
          assert.isNull(closing.unsafePoll())
          yield* TestClock.adjust("1 seconds")
          yield* Fiber.join(closing)
          assert.isTrue(lines.some(({ level, message }) => level === "Warning" && /closeTimeout/.test(message)))
          yield* http.endpoint.close
          yield* Deferred.succeed(gate, undefined)
        }), { closeTimeout: "3 seconds" }).pipe(Effect.provide(layer))
    }))

  it.effect("happens when the scope closes", () =>
    Effect.gen(function*() {
      let exchange!: TestExchange
      yield* withEndpoint(serve(act(Effect.never)), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          exchange = client.post(call(1, "act"))
        }))
      yield* until(() => exchange.ended)
      assert.strictEqual(exchange.json.error.code, -32000)
    }))
})
