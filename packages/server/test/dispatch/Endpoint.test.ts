import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as HttpRefusal from "@effect-mcp/server/HttpRefusal"
import * as RequestContext from "@effect-mcp/server/RequestContext"
import { Context, Deferred, Effect } from "effect"
import * as Endpoint from "../../src/dispatch/Endpoint.js"
import type { Visit } from "../http/Visit.js"
import { answered, call, initialize, proper, visiting, Visitor } from "../http/Visit.js"
import { act, GreetLive, logbook, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")

/** Checks what all refusals have in common. */
const assertRefused = (visit: Visit, status: number, code: number, message: RegExp) => {
  assert.strictEqual(visit.status, status, visit.text)
  assert.strictEqual(visit.sent["content-type"], "application/json")
  assert.strictEqual(visit.answers, 1)
  const { error, ...rest } = visit.json
  assert.deepStrictEqual(rest, { jsonrpc: "2.0" })
  assert.strictEqual(error.code, code)
  assert.match(error.message, message)
}

describe("the request line and headers", () => {
  it.effect("refuses other paths, whatever the query", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        assertRefused(visitor.visit("POST", proper, ping, "/other"), 404, -32000, /nothing at "\/other"/)
        assertRefused(visitor.visit("POST", proper, ping, "/mcp/"), 404, -32000, /nothing at/)
        assertRefused(visitor.visit("POST", proper, ping, "http://evil.com/mcp"), 404, -32000, /nothing at/)
        const first = yield* answered(visitor.visit("POST", proper, initialize(), "/mcp?a=b"))
        assert.strictEqual(first.status, 200)
      }), { path: "/mcp" }))

  it.effect("serves any path where none is given", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const visit = yield* answered(visitor.visit("POST", proper, initialize(), "/"))
        assert.strictEqual(visit.status, 200)
      })))

  it.effect("serves GET, POST and DELETE, and names them in a refusal", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        for (const method of ["PUT", "PATCH", "HEAD", "TRACE", "get", "OPTION"]) {
          const visit = visitor.visit(method, proper, ping)
          assertRefused(visit, 405, -32000, /Method Not Allowed/)
          assert.strictEqual(visit.sent.allow, "GET, POST, DELETE, OPTIONS")
          assert.isFalse(visit.read)
        }
      })))

  it.effect("checks Host and Origin before anything else, for every method", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
          for (const url of ["/mcp", "/elsewhere"]) {
            const host = visitor.visit(method, { ...proper, host: "evil.com" }, "{", url)
            assertRefused(host, 403, -32000, /the Host "evil.com" is not among/)
            const origin = visitor.visit(method, { ...proper, origin: "http://evil.com" }, "{", url)
            assertRefused(origin, 403, -32000, /the Origin "http:\/\/evil.com" is not among/)
            assert.isFalse(host.read || origin.read)
          }
        }
      })))

  it.effect("sends CORS headers to an allowed origin, with every answer", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const origin = "http://localhost:5173"
        const good = yield* visitor.ask(initialize(), { origin })
        const bad = visitor.post("{", { origin })
        for (const { sent } of [good, bad]) {
          assert.strictEqual(sent["access-control-allow-origin"], origin)
          assert.strictEqual(sent.vary, "Origin")
          assert.include(sent["access-control-expose-headers"], "Mcp-Session-Id")
        }
        const preflight = visitor.visit("OPTIONS", {
          host: "localhost",
          origin,
          "access-control-request-method": "POST"
        })
        assert.strictEqual(preflight.status, 204)
        assert.strictEqual(preflight.sent["access-control-allow-origin"], origin)
        assert.include(preflight.sent["access-control-allow-methods"], "DELETE")
        const without = yield* visitor.ask(initialize())
        assert.notProperty(without.sent, "access-control-allow-origin")
      })))
})

describe("the body", () => {
  it.effect("is read only with an Accept header that allows both kinds of answer", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        for (const accept of [undefined, "", "application/json", "text/event-stream", "text/html"]) {
          const visit = visitor.post(initialize(), { accept })
          assertRefused(visit, 406, -32000, /application\/json and text\/event-stream/)
          assert.isFalse(visit.read)
        }
        for (const accept of ["*/*", "application/*, text/event-stream;q=0.5"]) {
          assert.strictEqual((yield* visitor.ask(initialize(), { accept })).status, 200)
        }
      })))

  it.effect("is read only with a Content-Type of JSON", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        for (const type of [undefined, "", "text/plain", "text/plain; a=application/json", "application/jsonp"]) {
          const visit = visitor.post(initialize(), { "content-type": type })
          assertRefused(visit, 415, -32000, /Content-Type must be application\/json/)
          assert.isFalse(visit.read)
        }
        assertRefused(visitor.post(initialize(), { "content-encoding": "gzip" }), 415, -32000, /Content-Encoding/)
        const type = "Application/JSON; charset=utf-8"
        assert.strictEqual((yield* visitor.ask(initialize(), { "content-type": type })).status, 200)
      })))

  it.effect("has a limit in bytes, with and without Content-Length", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        const honest = visitor.post("x".repeat(101), { "content-length": "101" })
        assertRefused(honest, 413, -32000, /may have 100 bytes/)
        assert.isFalse(honest.read)
        assertRefused(visitor.post("x".repeat(101)), 413, -32000, /may have 100 bytes/)
        assertRefused(visitor.post("x".repeat(100)), 400, -32700, /not JSON/)
      }), { maxBodyBytes: 100 }))

  it.effect("is JSON in UTF-8, of a bounded depth", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        for (const text of ["", "{", "nonsense", "{} {}"]) {
          assertRefused(visitor.post(text), 400, -32700, /Parse error: the input is not JSON/)
        }
        assertRefused(visitor.post({ fault: "encoding" }), 400, -32700, /not UTF-8/)
        assertRefused(visitor.post({ fault: "unreadable" }), 400, -32700, /cannot be read/)
        assertRefused(visitor.post("[".repeat(65) + "]".repeat(65)), 400, -32600, /64 levels deep/)
        assertRefused(visitor.post(`{"jsonrpc":"2.0","method":"x","params":{"__proto__":1}}`), 400, -32600, /__proto__/)
      })))

  it.effect("is a message", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        for (const text of ["null", "1", "\"ping\"", "{}", `{"jsonrpc":"1.0","method":"ping"}`]) {
          assertRefused(visitor.post(text), 400, -32600, /Invalid request/)
        }
        // An error about a message with an id has that id.
        const visit = visitor.post({ id: 99, method: "ping" })
        assert.strictEqual(visit.status, 400)
        assert.strictEqual(visit.json.id, 99)
        assert.strictEqual(visit.json.error.code, -32600)
      })))
})

describe("a modern message to a server that implements no modern revision", () => {
  const KEY = "io.modelcontextprotocol/protocolVersion"
  const modern = (version: unknown, id: Message.RequestId = 7) =>
    Message.request(id, "tools/list", { _meta: { [KEY]: version, "io.modelcontextprotocol/clientCapabilities": {} } })
  const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

  const assertUnsupported = (visit: Visit, requested: string, id: Message.RequestId | undefined = 7) => {
    assert.strictEqual(visit.status, 400)
    assert.strictEqual(visit.sent["content-type"], "application/json")
    assert.notProperty(visit.sent, "mcp-session-id")
    const { error: { code, data, message }, ...rest } = visit.json
    assert.deepStrictEqual(rest, { jsonrpc: "2.0", ...(id === undefined ? undefined : { id }) })
    assert.strictEqual(code, -32602)
    assert.deepStrictEqual(data, { requested, supported: legacyVersions })
    assert.include(message, `Unsupported protocol version: ${requested}`)
  }

  for (const sessions of [true, false]) {
    const kind = sessions ? "with sessions" : "without sessions"
    it.effect(`MUST be answered with 400, and no error of a modern server, ${kind}`, () =>
      visiting(serve(GreetLive), (visitor) =>
        Effect.sync(() => {
          assertUnsupported(visitor.post(modern("2026-07-28"), { "mcp-protocol-version": "2026-07-28" }), "2026-07-28")
          assertUnsupported(visitor.post(modern("2026-07-28")), "2026-07-28")
          assertUnsupported(visitor.post(modern("2099-01-01", "x")), "2099-01-01", "x")
          // The header alone makes the message modern, as does an envelope that is broken.
          assertUnsupported(visitor.post(ping, { "mcp-protocol-version": "2026-07-28" }), "2026-07-28", 1)
          assertUnsupported(visitor.post(modern(1), { "mcp-protocol-version": "2026-07-28" }), "2026-07-28")
          // A client of both eras falls back to `initialize` when it gets this.
          const discover = visitor.post(Message.request(0, "server/discover", { _meta: { [KEY]: "2026-07-28" } }))
          assert.deepStrictEqual([discover.status, discover.json.id, discover.json.error.code], [400, 0, -32601])
        }), { sessions }))
  }

  it.effect("is refused as a notification, too, without an id", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.sync(() => {
        const cancelled = Message.notification("notifications/cancelled", { requestId: 1 })
        const visit = visitor.post(cancelled, { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(visit.status, 400)
        assert.notProperty(visit.json, "id")
        assert.strictEqual(visit.json.error.code, -32602)
      })))

  it.effect("is refused also in a session, which goes on", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        assertUnsupported(client.post(modern("2026-07-28")), "2026-07-28")
        assert.strictEqual((yield* client.ask(ping)).status, 200)
      })))

  it.effect("names the version in at most a line, and the revisions that this server supports", () =>
    visiting(serve(GreetLive, { versions: ["2025-06-18"] }), (visitor) =>
      Effect.sync(() => {
        const { data } = visitor.post(modern("x".repeat(10_000))).json.error
        assert.isBelow(data.requested.length, 200)
        assert.deepStrictEqual(data.supported, ["2025-06-18"])
      })))

  it.effect("is served when it names a revision of the server in its envelope", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        assert.strictEqual((yield* client.ask(modern("2025-11-25"))).status, 200)
      })))

  it.effect("is not what initialize is, whatever its header", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const visit = yield* visitor.ask(initialize(), { "mcp-protocol-version": "2026-07-28" })
        assert.strictEqual(visit.json.result.protocolVersion, "2025-11-25")
      })))
})

describe("authenticate", () => {
  const who = serve(act(
    Effect.flatMap(
      RequestContext.RequestContext,
      ({ principal }) => principal?.id === "ada" ? Effect.void : Effect.die("nobody")
    )
  ))

  it.effect("gives handlers the principal", () =>
    visiting(who, (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open(undefined, {}, { authorization: "Bearer ada" })
        const visit = yield* client.ask(call(1, "act"))
        assert.deepStrictEqual(visit.json.result.content, [])
      }), {
      authenticate: ({ headers }) => Effect.succeed({ id: headers.authorization!.slice("Bearer ".length) })
    }))

  it.effect("refuses before the body is read, with its own status and headers", () => {
    const refusal = new HttpRefusal.HttpRefusal({
      status: 401,
      headers: { "www-authenticate": "Bearer realm=\"mcp\"" },
      error: { code: -32001, message: "Say who you are" }
    })
    return visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        for (const method of ["GET", "POST", "DELETE"]) {
          const visit = yield* answered(visitor.visit(method, proper, "{"))
          assertRefused(visit, 401, -32001, /Say who you are/)
          assert.strictEqual(visit.sent["www-authenticate"], "Bearer realm=\"mcp\"")
          assert.isFalse(visit.read)
        }
        // A preflight request has no credentials.
        assert.strictEqual(visitor.visit("OPTIONS", proper).status, 204)
      }), { authenticate: () => Effect.fail(refusal) })
  })

  class Tokens extends Context.Tag("test/Tokens")<Tokens, ReadonlyMap<string, string>>() {}

  it.effect("may use the services that the endpoint is made with, and give claims", () => {
    let seen: unknown
    const look = act(Effect.map(RequestContext.RequestContext, ({ principal }) => seen = principal))
    const test = Effect.gen(function*() {
      const visitor = new Visitor(
        yield* Endpoint.make({
          authenticate: ({ headers }) =>
            Effect.map(Tokens, (tokens) => ({
              id: tokens.get(headers.authorization!)!,
              claims: { scopes: ["read"] }
            }))
        })
      )
      const client = yield* visitor.open(undefined, {}, { authorization: "token" })
      yield* client.ask(call(1, "act"))
      assert.deepStrictEqual(seen, { id: "ada", claims: { scopes: ["read"] } })
    })
    return test.pipe(
      Effect.scoped,
      Effect.provide(serve(look)),
      Effect.provideService(Tokens, new Map([["token", "ada"]]))
    )
  })

  it.effect("may take its time", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* visiting(serve(GreetLive), (visitor) =>
        Effect.gen(function*() {
          const visit = visitor.post(initialize())
          assert.isUndefined(visit.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.strictEqual(visit.status, 200)
        }), { authenticate: () => Effect.as(Deferred.await(gate), { id: "ada" }) })
    }))

  it.effect("that dies refuses the request, and only the log has the cause", () => {
    const { layer, lines } = logbook()
    return visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const visit = yield* visitor.ask(initialize())
        assertRefused(visit, 500, -32603, /^Internal error$/)
        assert.deepStrictEqual(lines.map(({ level, message }) => [level, message]), [["Error", "authenticate died"]])
      }), {
      authenticate: () => {
        throw new Error("the password is hunter2")
      }
    }).pipe(Effect.provide(layer))
  })
})

describe("close", () => {
  it.effect("answers running requests, ends streams, and refuses new requests", () =>
    visiting(serve(act(Effect.never)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const other = yield* visitor.open()
        const stream = client.get()
        const visits = [client.post(call(1, "act")), other.post(call(1, "act"))]
        yield* visitor.endpoint.close
        assert.isTrue(stream.ended)
        for (const visit of visits) {
          assert.deepStrictEqual(visit.json, {
            jsonrpc: "2.0",
            id: 1,
            error: { code: -32000, message: "Connection closed" }
          })
        }
        assert.strictEqual(visitor.endpoint.sessions(), 0)
        const late = client.post(ping)
        assertRefused(late, 503, -32000, /closing/)
        assert.strictEqual(late.sent.connection, "close")
        yield* visitor.endpoint.close
      })))

  it.effect("refuses a client that was being authenticated meanwhile", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const asked: Array<Visit> = []
      yield* visiting(serve(GreetLive), (visitor) =>
        Effect.gen(function*() {
          asked.push(
            visitor.visit("GET", { ...proper, accept: "text/event-stream" }, "", "/sse"),
            visitor.get(),
            visitor.delete(),
            visitor.post(initialize())
          )
          yield* visitor.endpoint.close
          yield* Deferred.succeed(gate, undefined)
          for (const visit of asked) assertRefused(yield* answered(visit), 503, -32000, /closing/)
          assert.strictEqual(visitor.endpoint.sessions(), 0)
        }), { path: "/mcp", ssePath: "/sse", authenticate: () => Effect.as(Deferred.await(gate), { id: "ada" }) })
    }))

  it.effect("comes with the scope", () =>
    Effect.gen(function*() {
      let visit!: Visit
      yield* visiting(serve(act(Effect.never)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          visit = client.post(call(1, "act"))
        }))
      yield* until(() => visit.ended)
      assert.strictEqual(visit.json.error.code, -32000)
    }))
})
