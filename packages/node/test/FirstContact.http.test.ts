/**
 * Every kind of server that a client may meet at a URL, each on a real socket, and the era in which a client with default options
 * speaks to it. The kinds differ in what they do with a request that belongs to no session: the probe.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect } from "effect"
import type * as http from "node:http"
import { json, type Refuse, urls } from "./deviations/Contacts.js"
import { listening } from "./HttpFixture.js"

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
  for (const [era, kinds] of Object.entries(urls)) {
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
