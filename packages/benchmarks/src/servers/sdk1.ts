/**
 * The official SDK, version 1, over HTTP, as its documentation shows: a transport and a server for each session, or for each request. It
 * answers with JSON, as Effect MCP does, or with streams.
 */
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { randomUUID } from "node:crypto"
import { makeServer } from "../subjects/sdk1.js"
import * as Start from "./Start.js"

const sessions = new Map<string, StreamableHTTPServerTransport>()

const begin = async (enableJsonResponse: boolean) => {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    }
  })
  await makeServer().connect(transport as never)
  return transport
}

const inSessions = (enableJsonResponse: boolean): Start.Start =>
  Start.onNode((request, response) => {
    void (async () => {
      const transport = sessions.get(String(request.headers["mcp-session-id"])) ?? await begin(enableJsonResponse)
      await transport.handleRequest(request, response)
    })()
  })

export const start: Start.Start = inSessions(true)

export const streamed: Start.Start = inSessions(false)

export const stateless: Start.Start = Start.onNode((request, response) => {
  void (async () => {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = makeServer()
    response.on("close", () => void server.close())
    await server.connect(transport as never)
    await transport.handleRequest(request, response)
  })()
})
