/**
 * Every kind of server that a client may meet at a URL, each on a real socket, and the era in which a client with default options
 * speaks to it. The kinds differ in what they do with a request that belongs to no session: the probe.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Remote from "@effect-mcp/client/Remote"
import { Effect } from "effect"
import type * as http from "node:http"
import { listening } from "./HttpFixture.js"

interface Exchange {
  readonly id: unknown
  readonly response: http.ServerResponse
  /** How many probes came before. */
  readonly before: number
}

type Refuse = (exchange: Exchange) => void

const json = (response: http.ServerResponse, status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}) =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

const failed =
  (status: number, code: number, message: string, id?: unknown, data?: unknown): Refuse => ({ id: own, response }) =>
    json(response, status, { jsonrpc: "2.0", id: id === undefined ? own : id, error: { code, message, data } })

const reply =
  (status: number, body = "", type = "text/plain", headers: http.OutgoingHttpHeaders = {}): Refuse => ({ response }) =>
    void response.writeHead(status, body === "" ? headers : { "content-type": type, ...headers }).end(body)

const events = (text: string): Refuse => reply(200, text, "text/event-stream")

const described = (response: http.ServerResponse, id: unknown) => {
  const cache = { ttlMs: 0, cacheScope: "public" }
  const capabilities = { tools: {} }
  json(response, 200, {
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities, ...cache }
  })
}

/** What a legacy server does with the probe. */
const legacy: Readonly<Record<string, Refuse>> = {
  "400 without a body": reply(400),
  "400 with text": reply(400, "Bad Request"),
  "400 and -32000": failed(400, -32000, "Bad Request: Server not initialized", null),
  "400 and -32600 under an id of its own": failed(400, -32600, "Bad Request: Missing session ID", "server-error"),
  "400 and -32022 without revisions": failed(400, -32022, "Unsupported protocol version"),
  "400 and JSON that is cut off": reply(400, "{\"jsonrpc\":", "application/json"),
  "401 without a challenge": reply(401),
  "403 without a challenge": failed(403, -32000, "Forbidden"),
  "404 without a body": reply(404),
  "404 and -32001": failed(404, -32001, "Session not found", null),
  "405": reply(405),
  "406": failed(406, -32000, "Not Acceptable", null),
  "409": reply(409),
  "415": reply(415, "Unsupported Media Type"),
  "422": reply(422, "{\"detail\":[]}", "application/json"),
  "429": reply(429),
  "429 that asks for a second": reply(429, "", "", { "retry-after": "1" }),
  "500": reply(500),
  "500 and -32603": failed(500, -32603, "Cannot read properties of undefined (reading 'transport')"),
  "501": reply(501),
  "502 with a page": reply(502, "<p>Bad gateway</p>", "text/html"),
  "503": failed(503, -32000, "Service Unavailable", null),
  "504": reply(504),
  "302 to another place": reply(302, "", "", { location: "https://login.example.test/" }),
  "a reset": ({ response }) => void response.socket?.resetAndDestroy(),
  "the end of the connection": ({ response }) => void response.socket?.end(),
  "a body that is cut off": ({ response }) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{\"jsonrpc\"")
    setImmediate(() => response.destroy())
  },
  "silence": () => {},
  "200 and -32601": failed(200, -32601, "Method not found"),
  "200 and an error without id": failed(200, -32600, "Invalid Request", null),
  "200 and a batch of one error": ({ id, response }) =>
    json(response, 200, [{ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }]),
  "200 and an empty result": ({ id, response }) => json(response, 200, { jsonrpc: "2.0", id, result: {} }),
  "200 with a page": reply(200, "<p>Welcome</p>", "text/html"),
  "200 without a body": reply(200),
  "202": reply(202),
  "204": reply(204),
  "a stream with an error": ({ id, response }) =>
    events(`data: {"jsonrpc":"2.0","id":${String(id)},"error":{"code":-32601,"message":"No"}}\n\n`)({
      id,
      response,
      before: 0
    }),
  "a stream that ends": events(": nothing\n\n"),
  "a stream with text": events("data: error\n\n")
}

/** What a modern server does with the probe, or with the first probe. */
const modern: Readonly<Record<string, Refuse>> = {
  "its description": ({ id, response }) => described(response, id),
  "503 while it starts": ({ before, id, response }) =>
    before === 0 ? void response.writeHead(503).end() : described(response, id),
  "503 that asks for a second": ({ before, id, response }) =>
    before === 0 ? void response.writeHead(503, { "retry-after": "1" }).end() : described(response, id),
  "silence while it starts": ({ before, id, response }) => before === 0 ? undefined : described(response, id)
}

/** A server in which a request that belongs to no session meets `refuse`. */
const serving = (refuse: Refuse, isModern: boolean) => {
  let before = 0
  const listener: http.RequestListener = (request, response) => {
    if (request.method !== "POST") return void response.writeHead(request.method === "DELETE" ? 200 : 405).end()
    let text = ""
    request.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => {
      const { id, method, params } = JSON.parse(text)
      if (id === undefined) return void response.writeHead(202).end()
      if (method === "server/discover") return refuse({ id, response, before: before++ })
      if (method === "initialize") {
        if (isModern) {
          return json(response, 400, { jsonrpc: "2.0", id, error: { code: -32022, message: "Unsupported" } })
        }
        const serverInfo = { name: "old", version: "1" }
        const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
        return json(response, 200, { jsonrpc: "2.0", id, result }, { "mcp-session-id": "s" })
      }
      if (!isModern && request.headers["mcp-session-id"] !== "s") return refuse({ id, response, before })
      const result = { resultType: "complete", content: [{ type: "text", text: "hello" }] }
      json(response, 200, { jsonrpc: "2.0", id, result })
    })
  }
  return listening(listener)
}

describe("A server at a URL is connected to by default", () => {
  for (const [era, kinds] of Object.entries({ legacy, modern })) {
    for (const [what, refuse] of Object.entries(kinds)) {
      it.scopedLive(`in the ${era} era, when the probe meets ${what}`, () =>
        Effect.gen(function*() {
          const { origin } = yield* serving(refuse, era === "modern")
          const client = yield* Client.make(Remote.connector(`${origin}/mcp`), {
            checkOutputs: false,
            // The default wait is too long for a test.
            ...(what.startsWith("silence") ? { timeouts: { "server/discover": "300 millis" } } : undefined)
          })
          assert.strictEqual(client.era, era)
          assert.deepStrictEqual((yield* client.callTool("greet")).content, [{ type: "text", text: "hello" }])
        }).pipe(Effect.provide(FetchHttpClient.layer)))
    }
  }
})
