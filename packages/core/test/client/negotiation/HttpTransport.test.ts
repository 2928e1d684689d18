import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Fiber, TestClock } from "effect"
import { vi } from "vitest"
import * as ScriptedServer from "../http/ScriptedServer.js"

const connector = (options: Options = {}) => Remote.connector(ScriptedServer.URL, { standalone: false, ...options })

/** Connects a client over HTTP. */
const connecting = (
  http: ScriptedServer.ScriptedServer,
  options: Client.Options = {},
  to: Connector<HttpClient.HttpClient> = connector()
) => Effect.forkScoped(Effect.provideService(Client.make(to, options), HttpClient.HttpClient, http.client))

/** A client that has sent the probe. */
const probing = (options?: Client.Options) =>
  Effect.gen(function*() {
    const http = yield* ScriptedServer.make()
    const client = yield* connecting(http, options)
    return { http, client, probe: yield* http.expect("server/discover") }
  })

const initialized = (http: ScriptedServer.ScriptedServer) =>
  Effect.gen(function*() {
    const initialize = yield* http.expect("initialize")
    assert.notProperty(initialize.headers, "mcp-protocol-version")
    yield* initialize.result(ScriptedServer.initializeResult())
    yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
  })

const discovered = (probe: ScriptedServer.Exchange) =>
  probe.result({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: {},
    ttlMs: 0,
    cacheScope: "private"
  })

/** An authorizer that has no other credentials. */
const noLogin = { headers: () => Effect.succeed({}), onRefused: () => Effect.succeed(false) }

type Refuse = (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>

/** An error of JSON-RPC under the id of the request, or under another. */
const failure =
  (status: number, code: number, message: string, id?: unknown, headers: Record<string, string> = {}): Refuse =>
  (exchange) =>
    exchange.json(
      { jsonrpc: "2.0", id: id === undefined ? exchange.message.id : id, error: { code, message } },
      headers,
      status
    )

const reply =
  (status: number, body = "", type = "text/plain", headers: Record<string, string> = {}): Refuse => (exchange) =>
    exchange.reply(status, { "content-type": type, ...headers }, body)

/** How legacy servers refuse a request that they do not know. */
const ofLegacy: Readonly<Record<string, Refuse>> = {
  "400 without a body": (exchange) => exchange.reply(400),
  "400 with text": reply(400, "Bad Request"),
  "400 with JSON that is not a message": reply(400, "{\"detail\":\"Missing session id\"}", "application/json"),
  "400 with JSON that is cut off": reply(400, "{\"jsonrpc\":", "application/json"),
  "400 with a list": reply(400, "[]", "application/json"),
  "400 and -32000 without id": failure(400, -32000, "Bad Request: Server not initialized", null),
  "400 and -32000 under its id": failure(400, -32000, "Bad Request: No valid session ID provided"),
  "400 and -32600 under an id of its own": failure(400, -32600, "Bad Request: Missing session ID", "server-error"),
  "400 and -32000 for the revision": failure(400, -32000, "Bad Request: Unsupported protocol version", null),
  "400 and -32602": failure(400, -32602, "Invalid request parameters"),
  "400 and -32700": failure(400, -32700, "Parse error", null),
  "404 without a body": (exchange) => exchange.reply(404),
  "404 with a page": reply(404, "<p>Not found</p>", "text/html"),
  "404 and -32001": failure(404, -32001, "Session not found", null),
  "404 and -32601": failure(404, -32601, "Method not found"),
  "405": (exchange) => exchange.reply(405, { allow: "GET" }),
  "406": failure(406, -32000, "Not Acceptable", null),
  "409": (exchange) => exchange.reply(409),
  "410": (exchange) => exchange.reply(410),
  "415": reply(415, "Unsupported Media Type"),
  "422": reply(422, "{\"detail\":[]}", "application/json"),
  "200 and -32601": failure(200, -32601, "Method not found"),
  "200 and -32602": failure(200, -32602, "Invalid params"),
  "200 and -32600 without id": failure(200, -32600, "Server not initialized", null),
  "200 and -32603": failure(200, -32603, "Internal error"),
  "200 and a result that describes no server": (exchange) => exchange.result({}),
  "200 and an error that is not an object": (exchange) =>
    exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: "unknown method" }),
  "200 and JSON that is not a message": reply(200, "{}", "application/json"),
  "200 with a page": reply(200, "<p>Welcome</p>", "text/html"),
  "202": (exchange) => exchange.accept,
  "an event with -32601": (exchange) =>
    Effect.flatMap(exchange.events(), (stream) =>
      Effect.zipRight(
        stream.send({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32601, message: "No" } }),
        stream.end
      ))
}

/** What shows no era: the answer was lost, or the server refused this moment. */
const ofNone: Readonly<Record<string, Refuse>> = {
  "401": (exchange) => exchange.reply(401),
  "401 and -32600 under its id": failure(401, -32600, "Unauthorized"),
  "403": (exchange) => exchange.reply(403),
  "403 and -32000": failure(403, -32000, "Forbidden"),
  "407": (exchange) => exchange.reply(407),
  "408": (exchange) => exchange.reply(408),
  "425": (exchange) => exchange.reply(425),
  "429 and -32000": failure(429, -32000, "Too many requests", null),
  "429 that asks for an hour": (exchange) => exchange.reply(429, { "retry-after": "3600" }),
  "429 that asks for what is not a time": (exchange) => exchange.reply(429, { "retry-after": "soon" }),
  "500": (exchange) => exchange.reply(500),
  "500 and -32603": failure(500, -32603, "Internal error"),
  "501": (exchange) => exchange.reply(501),
  "502 with a page": reply(502, "<p>Bad gateway</p>", "text/html"),
  "503 and -32000 without id": failure(503, -32000, "Service Unavailable", null),
  "504": (exchange) => exchange.reply(504),
  "302": (exchange) => exchange.reply(302, { location: "https://login.test" }),
  "a stream that ends": (exchange) => Effect.flatMap(exchange.events(), ({ end }) => end),
  "a connection that is reset": (exchange) => exchange.fail("ECONNRESET"),
  "silence of five seconds": () => TestClock.adjust("5 seconds"),
  "400 and -32022 without the supported revisions": failure(400, -32022, "No")
}

/** What `initialize` would meet as well: a login that is needed, or a request that did not arrive. */
const ofAll: Readonly<Record<string, Refuse>> = {
  "401 with a challenge": (exchange) => exchange.reply(401, { "www-authenticate": "Bearer" }),
  "401 and -32001 without id": failure(401, -32001, "Unauthorized", null, { "www-authenticate": "Bearer" }),
  "403 with a challenge": (exchange) =>
    exchange.reply(403, { "www-authenticate": "Bearer error=\"insufficient_scope\"" }),
  "a connection that is refused": (exchange) => exchange.fail("ECONNREFUSED"),
  "a name that is unknown": (exchange) => exchange.fail("ENOTFOUND")
}

describe("A client of both eras over HTTP", () => {
  it.scoped("speaks the modern era to a server that describes itself", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      assert.strictEqual(probe.what, `POST ${ScriptedServer.URL}`)
      assert.deepInclude(probe.headers, { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" })
      yield* discovered(probe)
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
      yield* http.quiet
    }))

  for (const [what, refuse] of Object.entries(ofLegacy)) {
    it.scoped(`sends \`initialize\` when the probe is answered with ${what}`, () =>
      Effect.gen(function*() {
        const { client, http, probe } = yield* probing()
        yield* refuse(probe)
        yield* initialized(http)
        assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
        yield* http.quiet
      }))
  }

  for (const [what, refuse] of Object.entries(ofNone)) {
    it.scoped(`sends \`initialize\`, and remembers nothing, when the probe meets ${what}`, () =>
      Effect.gen(function*() {
        const http = yield* ScriptedServer.make()
        const to = connector()
        const first = yield* connecting(http, {}, to)
        yield* Effect.flatMap(http.expect("server/discover"), refuse)
        yield* initialized(http)
        assert.strictEqual((yield* Fiber.join(first)).era, "legacy")
        yield* http.quiet
        const second = yield* connecting(http, {}, to)
        yield* Effect.flatMap(http.expect("server/discover"), discovered)
        assert.strictEqual((yield* Fiber.join(second)).era, "modern")
      }))

    it.scoped(`says what became of both when the probe meets ${what}, and \`initialize\` an outage`, () =>
      Effect.gen(function*() {
        const { client, http, probe } = yield* probing({ timeout: "1 minute" })
        yield* refuse(probe)
        yield* Effect.flatMap(http.expect("initialize"), (exchange) => exchange.fail("ECONNREFUSED"))
        const error = yield* Effect.flip(Fiber.join(client))
        assert.strictEqual(error._tag, "TransportError")
        assert.match(error.message, /`versions`.*"server\/discover".*"initialize"/)
        assert.notInclude(error.message, "may have run the request")
        yield* http.quiet
        yield* http.idle
      }))
  }

  for (const [what, refuse] of Object.entries(ofAll)) {
    it.scoped(`fails, and sends nothing more, when the probe meets ${what}`, () =>
      Effect.gen(function*() {
        const http = yield* ScriptedServer.make()
        const client = yield* connecting(http, {}, connector({ authorize: noLogin }))
        yield* Effect.flatMap(http.expect("server/discover"), refuse)
        const error = yield* Effect.flip(Fiber.join(client))
        assert.strictEqual(error._tag, "TransportError")
        assert.notInclude(error.message, "versions")
        yield* http.quiet
        yield* http.idle
      }))
  }

  it.scoped("sends `initialize` when the probe meets a challenge that no authorizer can answer", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* probe.reply(401, { "www-authenticate": "Bearer" })
      yield* initialized(http)
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
      yield* http.quiet
    }))

  it.scoped("says what to give the connector when both requests meet a challenge that no authorizer can answer", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* probe.reply(401, { "www-authenticate": "Bearer" })
      yield* Effect.flatMap(
        http.expect("initialize"),
        (exchange) => exchange.reply(401, { "www-authenticate": "Bearer" })
      )
      const error = yield* Effect.flip(Fiber.join(client))
      assert.match(error.message, /401: give the connector `headers` or `authorize`$/)
      yield* http.quiet
      yield* http.idle
    }))

  for (const [status, given] of [[429, "7"], [503, "7"], [429, "Thu, 01 Jan 1970 00:00:07 GMT"]] as const) {
    it.scoped(`sends the probe again after the time that ${status} with Retry-After ${given} asks for`, () =>
      Effect.gen(function*() {
        const { client, http, probe } = yield* probing()
        yield* probe.reply(status, { "retry-after": given })
        yield* TestClock.adjust("6 seconds")
        yield* http.quiet
        yield* TestClock.adjust("1 second")
        yield* Effect.flatMap(http.expect("server/discover"), discovered)
        assert.strictEqual((yield* Fiber.join(client)).era, "modern")
      }))
  }

  it.scoped("sends `initialize` again, too, after the time that 429 asks for, and takes it for no older transport", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* probe.reply(404)
      yield* Effect.flatMap(http.expect("initialize"), (exchange) => exchange.reply(429, { "retry-after": "1" }))
      yield* TestClock.adjust("1 second")
      yield* initialized(http)
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  const refusing = (http: ScriptedServer.ScriptedServer, status: number) =>
    Effect.gen(function*() {
      yield* Effect.flatMap(http.expect("initialize"), (exchange) => exchange.reply(status))
      // A server that refuses a request with 4xx may implement only the older transport.
      yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.reply(405))
      yield* http.quiet
      yield* TestClock.adjust("1 second")
    })

  for (const status of [403, 429]) {
    it.scoped(`sends \`initialize\` again, once, after a second, when ${status} without a time answers it right after the probe`, () =>
      Effect.gen(function*() {
        const { client, http, probe } = yield* probing()
        yield* probe.reply(404)
        yield* refusing(http, status)
        yield* initialized(http)
        assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
        const other = yield* probing()
        yield* other.probe.reply(404)
        yield* refusing(other.http, status)
        yield* refusing(other.http, status)
        assert.include((yield* Effect.flip(Fiber.join(other.client))).message, String(status))
        yield* other.http.quiet
      }))
  }

  it.scoped("looks for a modern server again when `initialize` is refused after a probe that showed nothing", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* TestClock.adjust("5 seconds")
      assert.isTrue(probe.isOver)
      yield* Effect.flatMap(http.expect("initialize"), failure(400, -32022, "No"))
      yield* Effect.flatMap(http.expect("server/discover"), discovered)
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
    }))

  for (
    const [what, id] of [["under its id", undefined], ["without id", null], [
      "under another id",
      "server-error"
    ]] as const
  ) {
    for (const code of [-32020, -32021]) {
      it.scoped(`stays modern when the probe is answered with 400 and ${code} ${what}`, () =>
        Effect.gen(function*() {
          const { client, http, probe } = yield* probing()
          yield* failure(400, code, "No", id)(probe)
          assert.notStrictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "TransportError")
          yield* http.quiet
        }))
    }
  }

  it.scoped("SHOULD send the probe again when the server names a revision that both have", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      const data = { supported: ["2026-07-28"], requested: "2026-07-28" }
      yield* probe.json({ jsonrpc: "2.0", id: null, error: { code: -32022, message: "No", data } }, {}, 400)
      yield* Effect.flatMap(http.expect("server/discover"), discovered)
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
    }))

  it.scoped("sends `initialize` in a browser, which hides that a server does not allow the headers of the probe", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubGlobal("document", {})),
        () => Effect.sync(() => vi.unstubAllGlobals())
      )
      const { client, http, probe } = yield* probing()
      yield* probe.fail("ECONNRESET")
      yield* initialized(http)
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
      const away = yield* probing()
      yield* away.probe.fail("ECONNREFUSED")
      yield* Effect.flatMap(away.http.expect("initialize"), (exchange) => exchange.fail("ECONNREFUSED"))
      assert.strictEqual((yield* Effect.flip(Fiber.join(away.client)))._tag, "TransportError")
      yield* away.http.quiet
    }))

  it.scoped("SHOULD look for the era once for all connectors of an origin that share an `HttpClient`", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* failure(400, -32601, "Method not found")(probe)
      yield* initialized(http)
      yield* Fiber.join(client)
      const second = yield* connecting(http)
      yield* initialized(http)
      assert.strictEqual((yield* Fiber.join(second)).era, "legacy")
      // Another client knows nothing of it, nor does this one of another origin.
      const other = yield* probing()
      yield* discovered(other.probe)
      assert.strictEqual((yield* Fiber.join(other.client)).era, "modern")
      yield* connecting(http, {}, Remote.connector("http://other.test/mcp", { standalone: false }))
      yield* http.expect("server/discover")
    }))

  it.scoped("looks for the era once for all connections of the connector", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const to = connector()
      const first = yield* connecting(http, {}, to)
      yield* Effect.flatMap(http.expect("server/discover"), (exchange) => exchange.reply(404))
      yield* initialized(http)
      yield* Fiber.join(first)
      const second = yield* connecting(http, {}, to)
      yield* initialized(http)
      assert.strictEqual((yield* Fiber.join(second)).era, "legacy")
    }))

  for (
    const [what, refuse] of Object.entries<Refuse>({
      "-32022": (exchange) =>
        exchange.json(
          {
            jsonrpc: "2.0",
            id: null,
            error: { code: -32022, message: "No", data: { supported: ["2026-07-28"], requested: "2025-11-25" } }
          },
          {},
          400
        ),
      "-32601": failure(404, -32601, "Method not found")
    })
  ) {
    it.scoped(`sends the probe again when a server that was legacy refuses \`initialize\` with ${what}`, () =>
      Effect.gen(function*() {
        const http = yield* ScriptedServer.make()
        const to = connector()
        const first = yield* connecting(http, {}, to)
        yield* Effect.flatMap(http.expect("server/discover"), (exchange) => exchange.reply(404))
        yield* initialized(http)
        yield* Fiber.join(first)
        const second = yield* connecting(http, {}, to)
        yield* Effect.flatMap(http.expect("initialize"), refuse)
        yield* Effect.flatMap(http.expect("server/discover"), discovered)
        assert.strictEqual((yield* Fiber.join(second)).era, "modern")
        yield* http.quiet
      }))
  }

  it.scoped("tries HTTP+SSE when the server implements neither the modern nor the newer legacy transport", () =>
    Effect.gen(function*() {
      const { client, http, probe } = yield* probing()
      yield* probe.reply(405)
      yield* Effect.flatMap(http.expect("initialize"), (exchange) => exchange.reply(405))
      const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
      yield* stream.push("event: endpoint\ndata: /messages\n\n")
      const again = yield* http.expect("initialize")
      yield* again.accept
      yield* stream.send({
        jsonrpc: "2.0",
        id: again.message.id,
        result: ScriptedServer.initializeResult("2024-11-05")
      })
      yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
      assert.strictEqual((yield* Fiber.join(client)).version, "2024-11-05")
    }))

  it.scoped("sends no probe over HTTP+SSE, which is legacy", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const client = yield* connecting(http, {}, connector({ transport: "sse" }))
      const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
      yield* stream.push("event: endpoint\ndata: /messages\n\n")
      const initialize = yield* http.expect("initialize")
      yield* initialize.accept
      const result = ScriptedServer.initializeResult("2024-11-05")
      yield* stream.send({ jsonrpc: "2.0", id: initialize.message.id, result })
      yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
      assert.strictEqual((yield* Fiber.join(client)).version, "2024-11-05")
    }))

  it.scoped("sends no probe when it goes on with a session", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const session = { id: "s-1", version: "2025-11-25" }
      const client = yield* connecting(http, {
        prior: {
          version: "2025-11-25",
          serverInfo: { name: "old", version: "1" },
          serverCapabilities: {},
          instructions: undefined
        }
      }, connector({ session }))
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
      yield* http.quiet
    }))
})

describe("A client of the modern era only, over HTTP", () => {
  it.scoped("says that HTTP+SSE has no modern revision, and sends nothing to know it", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const client = yield* connecting(http, { versions: ["2026-07-28"] }, connector({ transport: "sse" }))
      const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
      yield* stream.push("event: endpoint\ndata: /messages\n\n")
      assert.strictEqual(
        (yield* Effect.flip(Fiber.join(client))).message,
        "The server supports a legacy revision (\"server/discover\" was not sent: HTTP+SSE has only legacy revisions); " +
          "this client supports 2026-07-28"
      )
      yield* http.quiet
    }))
})
