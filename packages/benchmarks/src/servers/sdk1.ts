/**
 * The official SDK, version 1, over HTTP, as its documentation shows: a transport and a server for each session. It answers
 * with JSON, as Effect MCP does.
 */
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { randomUUID } from "node:crypto"
import { makeServer } from "../subjects/sdk1.js"
import * as Start from "./Start.js"

const sessions = new Map<string, StreamableHTTPServerTransport>()

const begin = async () => {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    }
  })
  await makeServer().connect(transport as never)
  return transport
}

export const start: Start.Start = Start.onNode((request, response) => {
  void (async () => {
    const transport = sessions.get(String(request.headers["mcp-session-id"])) ?? await begin()
    await transport.handleRequest(request, response)
  })()
})
