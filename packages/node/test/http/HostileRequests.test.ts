/**
 * Requests whose headers are repeated or contradict each other, over real sockets, in all shells.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import { Context, Effect, Layer, Logger } from "effect"
import { act, ask, dial, info, open, until } from "../HttpFixture.js"
import { shellsAndMounts } from "../Shells.js"

const body = JSON.stringify(Message.request(1, "ping"))

const json = "content-type: application/json"
const length = `content-length: ${body.length}`
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

class Sender extends Context.Tag("test/Sender")<Sender, string>() {}

/** A server that finds the id of the sender of an HTTP request in this way. */
const identified = (http: (request: Authenticator.HttpRequest) => Effect.Effect<string, Authenticator.Refuses>) =>
  McpServer.layer(info, act(Effect.void), { authenticator: Authenticator.make(Sender, { id: (id) => id, http }) })

const refusals = [
  HttpRefusal.unauthorized("Bearer error_description=\"a\r\nb\""),
  HttpRefusal.unauthorized("Bearer error_description=\"€\""),
  new HttpRefusal.HttpRefusal({ status: 99, error: { code: -32000, message: "no" } })
]

for (const [shell, start] of Object.entries(shellsAndMounts)) {
  describe(`requests to ${shell}`, () => {
    /** The status of the first answer to this text; 0 when the connection is closed without one. */
    const statusOf = (port: number, text: string) =>
      Effect.scoped(Effect.gen(function*() {
        const { closed, socket, text: received } = yield* dial(port)
        socket.write(text)
        yield* until(() => closed() || received().includes("\r\n\r\n"))
        return Number(/^HTTP\/1\.1 (\d+)/.exec(received())?.[1] ?? 0)
      }))

    it.scopedLive("are refused when a header is repeated that may be sent once", () =>
      Effect.gen(function*() {
        const port = yield* start({
          path: "/mcp",
          allowedHosts: ["*"],
          allowedOrigins: ["*"]
        })
        const url = `http://127.0.0.1:${port}/mcp`
        const digest = { authorization: "Digest username=\"ada\", realm=\"x\"" }
        const session = `mcp-session-id: ${(yield* open(url))["mcp-session-id"]}`
        const version = "mcp-protocol-version: 2025-11-25"
        const send = (...headers: ReadonlyArray<string>) =>
          statusOf(port, ["POST /mcp HTTP/1.1", "accept: */*", length, ...headers, "", body].join("\r\n"))
        assert.strictEqual(yield* send("host: a", json, session, version), 200)
        assert.strictEqual(yield* send("host: a", "HOST: a", json, session), 403)
        assert.strictEqual(yield* send("host: a", "origin: http://a", "Origin: http://b", json, session), 403)
        assert.strictEqual(yield* send("host: a", json, json, session), 415)
        assert.strictEqual(yield* send("host: a", json, "content-type: text/plain", session), 415)
        assert.strictEqual(yield* send("host: a", json, session, session), 404)
        assert.strictEqual(yield* send("host: a", json, session, version, version), 400)
        const both = yield* send("host: a", json, session, "authorization: a", "authorization: b")
        // A web request has them as one field: they are the credentials of another principal.
        assert.strictEqual(both, shell === "a web handler" || shell === "Hono" ? 404 : 400)
        assert.strictEqual((yield* ask(url, Message.request(1, "ping"), digest)).status, 400)
        assert.match((yield* ask(url, Message.request(1, "ping"), digest)).json.error.message, /Mcp-Session-Id/)
      }).pipe(
        Effect.provide(identified(({ headers: { authorization } }) => Effect.succeed(authorization ?? "nobody")))
      ))

    it.scopedLive("are refused when their absolute URI names a host that is not allowed, whatever the Host header is", () =>
      Effect.gen(function*() {
        const port = yield* start({})
        const send = (uri: string, host: string) =>
          statusOf(
            port,
            [`POST ${uri} HTTP/1.1`, `host: ${host}`, "accept: */*", json, length, "", body].join("\r\n")
          )
        const origin = yield* send("/mcp", "localhost")
        assert.include([400, 404], origin)
        assert.include([403, 404], yield* send("http://evil.example/mcp", "localhost"))
        assert.include([origin, 404], yield* send(`http://127.0.0.1:${port}/mcp`, "localhost"))
        assert.strictEqual(yield* send("/mcp", "evil.example"), 403)
      }).pipe(Effect.provide(McpServer.layer(info, act(Effect.void)))))

    it.scopedLive("are answered with 413, and their connection is closed, when they declare more than is read and dropped", () =>
      Effect.gen(function*() {
        const port = yield* start({ path: "/mcp" })
        const { closed, socket, text: received } = yield* dial(port)
        socket.write(
          ["POST /mcp HTTP/1.1", "host: localhost", "accept: */*", json, "content-length: 5000000000", "", "{"].join(
            "\r\n"
          )
        )
        yield* until(closed)
        assert.match(received(), /^HTTP\/1\.1 413 /)
      }).pipe(Effect.provide(McpServer.layer(info, act(Effect.void)))))

    it.scopedLive("are answered with 500 when the authenticator refuses with a status or a header that HTTP does not have", () =>
      Effect.gen(function*() {
        const port = yield* start({ path: "/mcp" })
        for (const index of refusals.keys()) {
          const { status } = yield* ask(`http://127.0.0.1:${port}/mcp`, Message.request(1, "ping"), {
            "x-refusal": index
          })
          assert.strictEqual(status, 500, String(index))
        }
      }).pipe(Effect.provide(Layer.merge(
        identified(({ headers }) => Effect.fail(refusals[Number(headers["x-refusal"])]!)),
        Logger.remove(Logger.defaultLogger)
      ))))

    it.scopedLive("are refused when it is not certain where their body ends, or how it is encoded", () =>
      Effect.gen(function*() {
        const port = yield* start({ path: "/mcp" })
        const session = `mcp-session-id: ${(yield* open(`http://127.0.0.1:${port}/mcp`))["mcp-session-id"]}`
        const send = (headers: ReadonlyArray<string>, content: string) =>
          statusOf(
            port,
            ["POST /mcp HTTP/1.1", "host: localhost", "accept: */*", session, ...headers, "", content].join("\r\n")
          )
        assert.strictEqual(yield* send([json, "transfer-encoding: chunked"], chunked), 200)
        const refused: ReadonlyArray<readonly [ReadonlyArray<string>, string, number]> = [
          [[json, "transfer-encoding: gzip, chunked"], chunked, 400],
          [[json, "transfer-encoding: gzip", "transfer-encoding: chunked"], chunked, 400],
          [[json, "transfer-encoding: chunked, chunked"], chunked, 400],
          [[json, "transfer-encoding: identity, chunked"], chunked, 400],
          [[json, "transfer-encoding: gzip"], body, 400],
          [[json, "transfer-encoding: xchunked"], chunked, 400],
          [[json, length, "transfer-encoding: chunked"], chunked, 400],
          [[json, length, `content-length: ${body.length + 1}`], body, 400],
          [[json, "content-length: +5"], body, 400],
          [[json, "content-length : 5"], body, 400],
          [[json, "transfer-encoding : chunked"], chunked, 400],
          [[json, " folded: header", length], body, 400],
          [[json, "content-encoding: gzip", length], body, 415],
          [["content-type: application/json;charset", length], body, 415]
        ]
        for (const [headers, content, status] of refused) {
          assert.strictEqual(yield* send(headers, content), status, headers.join(" | "))
        }
      }).pipe(Effect.provide(McpServer.layer(info, act(Effect.void)))))
  })
}
