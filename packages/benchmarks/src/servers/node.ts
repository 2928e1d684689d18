/**
 * `node:http` alone, the floor of what an HTTP server can cost: it reads the body, parses it, and answers with the same JSON
 * as the other servers at 2026-07-28. It checks nothing.
 */
import type { ServerResponse } from "node:http"
import * as Start from "./Start.js"

export interface Call {
  readonly id?: number
  readonly params?: {
    readonly arguments?: { readonly a: number; readonly b: number }
    readonly _meta?: { readonly progressToken?: unknown }
  }
}

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "bench", version: "1.0.0" }
}

/** The answer to a call, or to a handshake. */
export const answer = ({ id, params }: Call): unknown => {
  if (params?.arguments === undefined) return { jsonrpc: "2.0", id, result: initialized }
  const { a, b } = params.arguments
  const structuredContent = { sum: a + b }
  return {
    jsonrpc: "2.0",
    id,
    result: {
      content: [{ type: "text", text: JSON.stringify(structuredContent) }],
      structuredContent,
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "bench", version: "1.0.0" } }
    }
  }
}

const onCall = (then: (call: Call, response: ServerResponse) => void): Start.Start =>
  Start.onNode((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end()
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => then(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call, response))
  })

export const start: Start.Start = onCall((call, response) => {
  if (call.id === undefined) return void response.writeHead(202).end()
  const body = JSON.stringify(answer(call))
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
})

/** The same with an event of progress before the answer. */
export const streamed: Start.Start = onCall((call, response) => {
  if (call.id === undefined) return void response.writeHead(202).end()
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  if (call.params?.arguments === undefined) return void response.end(`data: ${JSON.stringify(answer(call))}\n\n`)
  const params = { progressToken: call.params._meta?.progressToken, progress: 1, total: 2 }
  response.write(
    `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })}\n\n`
  )
  response.end(`event: message\ndata: ${JSON.stringify(answer(call))}\n\n`)
})
