/**
 * The handler in a server of `node:http2`: it serves calls and streams, and checks the host that a request of HTTP/2 names, which is
 * `:authority`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Deferred, Effect, Layer } from "effect"
import * as http2 from "node:http2"
import type { AddressInfo } from "node:net"
import { act, call, info, initialize, proper } from "./HttpFixture.js"

const Server = McpServer.layer(info, act(Effect.void))

/** A client that is connected to a server of HTTP/2, and the host of the server. */
const connected = (options?: HttpOptions) =>
  Effect.gen(function*() {
    const { handler } = yield* Effect.provide(NodeHandler.make(options), yield* Layer.build(Server))
    const server = yield* Effect.acquireRelease(
      Effect.async<http2.Http2Server>((resume) => {
        // The types of the compatibility API are not those of `node:http`.
        const listener = handler as unknown as (
          request: http2.Http2ServerRequest,
          response: http2.Http2ServerResponse
        ) => void
        const server = http2.createServer(listener).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => http2.connect(`http://${host}`)),
      (client) => Effect.sync(() => client.destroy())
    )
    return { client, host }
  })

const ask = (client: http2.ClientHttp2Session, body: unknown, headers: http2.OutgoingHttpHeaders = {}) =>
  Effect.async<{ readonly status: number; readonly headers: http2.IncomingHttpHeaders; readonly text: string }, Error>(
    (resume) => {
      const stream = client.request({ ":method": "POST", ":path": "/mcp", ...proper, ...headers })
      let answer: http2.IncomingHttpHeaders = {}
      let text = ""
      stream.on("response", (headers) => answer = headers)
      stream.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
      stream.on("end", () => resume(Effect.succeed({ status: Number(answer[":status"]), headers: answer, text })))
      stream.on("error", (error) => resume(Effect.fail(error)))
      stream.end(body === undefined ? undefined : JSON.stringify(body))
    }
  )

describe("A handler in a server of HTTP/2", () => {
  it.scopedLive("serves the calls of a session", () =>
    Effect.gen(function*() {
      const { client } = yield* connected()
      const { headers, status } = yield* ask(client, initialize())
      assert.strictEqual(status, 200)
      const called = yield* ask(client, call(2, "act"), { "mcp-session-id": headers["mcp-session-id"] })
      assert.strictEqual(called.status, 200)
      assert.deepInclude(JSON.parse(called.text), { id: 2 })
    }))

  it.scopedLive("serves the stream of a session", () =>
    Effect.gen(function*() {
      const { client } = yield* connected()
      const { headers } = yield* ask(client, initialize())
      const stream = client.request({
        ":method": "GET",
        ":path": "/mcp",
        accept: "text/event-stream",
        "mcp-session-id": headers["mcp-session-id"]
      })
      const answer = yield* Effect.async<http2.IncomingHttpHeaders>((resume) => {
        stream.on("response", (answer) => resume(Effect.succeed(answer))).resume()
      })
      assert.deepEqual([Number(answer[":status"]), answer["content-type"]], [200, "text/event-stream"])
      // The server ends the stream with the session.
      const ended = yield* Deferred.make<void>()
      stream.once("end", () => Deferred.unsafeDone(ended, Effect.void))
      yield* ask(client, undefined, { ":method": "DELETE", "mcp-session-id": headers["mcp-session-id"] })
      yield* Deferred.await(ended)
    }))

  const hosts: ReadonlyArray<
    readonly [what: string, headers: (own: string) => http2.OutgoingHttpHeaders, status: number]
  > = [
    ["its own address", (own) => ({ ":authority": own }), 200],
    ["its own address, and the same Host", (own) => ({ ":authority": own, host: own }), 200],
    ["its own address, and a foreign Host", (own) => ({ ":authority": own, host: "evil.example" }), 403],
    ["its own address, and another allowed Host", (own) => ({ ":authority": own, host: "localhost" }), 403],
    ["a foreign host", () => ({ ":authority": "evil.example" }), 403],
    ["a foreign host, and an allowed Host", (own) => ({ ":authority": "evil.example", host: own }), 403],
    // The client of Node sends no `:authority` beside a Host that it is given.
    ["an allowed Host alone", (own) => ({ host: own }), 200],
    ["a foreign Host alone", () => ({ host: "evil.example" }), 403]
  ]
  for (const [what, headers, expected] of hosts) {
    it.scopedLive(`answers a request that names ${what}, with ${expected}`, () =>
      Effect.gen(function*() {
        const { client, host } = yield* connected()
        const { status } = yield* ask(client, initialize(), headers(host))
        assert.strictEqual(status, expected)
      }))
  }

  it.scopedLive("serves the hosts that `allowedHosts` names, and no others", () =>
    Effect.gen(function*() {
      const { client } = yield* connected({ allowedHosts: ["mcp.example.com"] })
      const statusOf = (authority: string) =>
        Effect.map(ask(client, initialize(), { ":authority": authority }), ({ status }) => status)
      assert.strictEqual(yield* statusOf("mcp.example.com"), 200)
      assert.strictEqual(yield* statusOf("localhost"), 403)
    }))
})
