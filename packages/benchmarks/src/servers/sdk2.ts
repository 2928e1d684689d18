/**
 * The official SDK, version 2, over HTTP, as its documentation shows. At 2026-07-28 it is `createMcpHandler` with a factory that makes a
 * server for each request. At older revisions it is a transport and a server for each session. Hono's adapter mounts both on `node:http`,
 * because the SDK's own adapter costs more.
 */
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import { randomUUID } from "node:crypto"
import { makeServer } from "../subjects/sdk2.js"
import * as Start from "./Start.js"

const handler = createMcpHandler(makeServer)

export const start: Start.Start = Start.onWeb((request) => handler.fetch(request))

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

const begin = async (enableJsonResponse: boolean) => {
  const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    }
  })
  await makeServer().connect(transport)
  return transport
}

const withSessions = (enableJsonResponse: boolean): Start.Start =>
  Start.onWeb(async (request) => {
    const transport = sessions.get(String(request.headers.get("mcp-session-id"))) ?? await begin(enableJsonResponse)
    return transport.handleRequest(request)
  })

export const inSessions: Start.Start = withSessions(true)

export const streamed: Start.Start = withSessions(false)
