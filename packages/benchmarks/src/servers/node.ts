/**
 * `node:http` alone, the floor of what an HTTP server can cost: it reads the body, parses it, and answers with the same JSON
 * as the other servers at 2026-07-28. It checks only that the arguments are numbers.
 */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { isRecord, offered } from "../Workload.js"
import * as Start from "./Start.js"

interface Answer {
  readonly jsonrpc: "2.0"
  readonly id: number | string
  readonly result: Record<string, unknown>
}

/** What a client sends. */
export interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "bench", version: "1.0.0" }
}

const argumentsOf = (params: Message["params"]): { readonly a: number; readonly b: number } | undefined => {
  const given = params?.arguments
  if (!isRecord(given)) return undefined
  const { a, b } = given
  return typeof a === "number" && typeof b === "number" ? { a, b } : undefined
}

/** The answer to a call, or to a handshake. */
export const answer = (id: number | string, params: Message["params"]): Answer => {
  const given = argumentsOf(params)
  if (given === undefined) return { jsonrpc: "2.0", id, result: initialized }
  const structuredContent = { sum: given.a + given.b }
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

const number = { type: "number" }

const tools = offered.map((name) => ({
  name,
  inputSchema: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
  outputSchema: { type: "object", properties: { sum: number }, required: ["sum"] }
}))

/** The answer to a call, to a handshake, or to a list of tools. */
export const answerTo = (id: number | string, { method, params }: Message): Answer =>
  method === "tools/list" ? { jsonrpc: "2.0", id, result: { tools } } : answer(id, params)

/** How many notifications of progress the tool of a call sends before its result. */
export const progressOf = ({ params }: Message): number => {
  if (params?.name === "report") return argumentsOf(params)?.a ?? 0
  return params?.name === "addSlowly" || params?.name === "park" ? 1 : 0
}

export const progress = ({ params }: Message, progress: number): object => {
  const { _meta } = params ?? {}
  const progressToken = isRecord(_meta) ? _meta.progressToken : undefined
  return { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress, total: 2 } }
}

type Then = (message: Message, id: number | string, response: ServerResponse) => void

const onRequest = (
  then: Then,
  otherwise: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.writeHead(405).end()
): Start.Start =>
  Start.onNode((request, response) => {
    if (request.method !== "POST") return otherwise(request, response)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const message: Message = JSON.parse(Buffer.concat(chunks).toString("utf8"))
      if (message.id === undefined) response.writeHead(202).end()
      else then(message, message.id, response)
    })
  })

const json = (response: ServerResponse, answer: Answer, headers: Readonly<Record<string, string>> = {}): void => {
  const body = JSON.stringify(answer)
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers
  })
  response.end(body)
}

export const start: Start.Start = onRequest((message, id, response) => json(response, answerTo(id, message)))

const STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" }

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

/** Answers with a stream: events of progress, and then the answer, except for "park". A GET opens a stream, too. */
export const streamed: Start.Start = onRequest((message, id, response) => {
  response.writeHead(200, STREAM)
  const notifications = progressOf(message)
  for (let n = 1; n <= notifications; n++) response.write(event(progress(message, n)))
  if (message.params?.name !== "park") response.end(event(answer(id, message.params)))
}, (_, response) => response.writeHead(200, STREAM).flushHeaders())

const sessions = new Map<string, object>()

/** Remembers what each client has said in its handshake. */
export const inSessions: Start.Start = onRequest((message, id, response) => {
  if (message.method !== "initialize") return json(response, answerTo(id, message))
  const session = randomUUID()
  sessions.set(session, { lastSeen: performance.now(), ...message.params })
  json(response, answer(id, message.params), { "mcp-session-id": session })
})

/** The same as `start`, as a function of web requests on Hono's adapter. */
export const web: Start.Start = Start.onWeb(async (request) => {
  if (request.method !== "POST") return new Response(null, { status: 405 })
  const message: Message = await request.json()
  return message.id === undefined ? new Response(null, { status: 202 }) : Response.json(answerTo(message.id, message))
})
