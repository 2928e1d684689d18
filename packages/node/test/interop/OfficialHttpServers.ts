/**
 * Servers of the official SDK, of both versions, over HTTP in this process. The test can drop all their sessions, as a
 * restart would.
 */
import { Server as Server1 } from "@modelcontextprotocol/sdk/server/index.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { WebStandardStreamableHTTPServerTransport as Http1 } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server as Server2,
  WebStandardStreamableHTTPServerTransport as Http2
} from "@modelcontextprotocol/server"
import { Effect, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
// @ts-expect-error the module has no types
import { offering } from "../fixtures/officialModern.mjs"
// @ts-expect-error the module has no types
import { call, capabilities, info, tools } from "../fixtures/officialTools.mjs"
import { patient } from "../Shells.js"

export type Version = "1.32" | "2.4"

export interface Options {
  readonly json?: boolean
  readonly resumable?: boolean
  /** Milliseconds. */
  readonly retry?: number
  /** Makes the server of each session. Default: one with the tools of the other official servers. */
  readonly server?: () => Server1
}

export interface Started {
  readonly port: number
  readonly url: string
  /** Drops all sessions, as a restart would. */
  readonly forget: Effect.Effect<void>
  readonly sessions: () => number
  readonly sockets: () => number
  /** The methods and content types of the requests. */
  readonly log: ReadonlyArray<string>
  readonly changed: Effect.Effect<void>
  /** Lets the tool "gated" continue. */
  readonly release: Effect.Effect<void>
}

interface Context {
  readonly signal: AbortSignal
  readonly progress: (progress: number, total?: number) => Promise<void>
  readonly refuse: (message: string) => never
}

/** The tools of the other official servers, and one that waits until the test lets it continue. */
const serve = async (
  gate: Promise<void>,
  name: string,
  args: Record<string, unknown>,
  context: Context
): Promise<any> => {
  if (name !== "gated") return call(name, args, context)
  for (const step of [1, 2, 3]) await context.progress(step)
  await gate
  for (const step of [4, 5, 6]) await context.progress(step)
  return { content: [{ type: "text", text: "done" }] }
}

interface Session {
  readonly handle: (request: Request) => Promise<Response>
  readonly changed: () => Promise<void>
  readonly close: () => Promise<void>
}

const server1 = (gate: Promise<void>) => {
  const server = new Server1(info, { capabilities })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(
    CallToolRequestSchema,
    ({ params }, extra) =>
      serve(gate, params.name, params.arguments ?? {}, {
        signal: extra.signal,
        progress: (progress: number, total?: number) =>
          extra.sendNotification({
            method: "notifications/progress",
            params: { progressToken: extra._meta!.progressToken!, progress, ...(total === undefined ? {} : { total }) }
          }),
        refuse: (message: string) => {
          throw new McpError(ErrorCode.InvalidParams, message)
        }
      })
  )
  return server
}

const server2 = (gate: Promise<void>) => {
  const server = new Server2(info, { capabilities })
  server.setRequestHandler("tools/list", () => ({ tools }))
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    serve(gate, params.name, params.arguments ?? {}, {
      signal: mcpReq.signal,
      progress: (progress: number, total?: number) =>
        mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: mcpReq._meta!.progressToken!, progress, ...(total === undefined ? {} : { total }) }
        }),
      refuse: (message: string) => {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
      }
    }))
  return server
}

/** The events of all streams, without a limit. */
const eventStore = () => {
  const events: Array<{ readonly id: string; readonly stream: string; readonly message: any }> = []
  const streamOf = (id: string) => Promise.resolve(events.find((event) => event.id === id)?.stream)
  return {
    storeEvent: (stream: string, message: any) => {
      const id = `${events.length}-${stream}`
      events.push({ id, stream, message })
      return Promise.resolve(id)
    },
    getStreamIdForEventId: streamOf,
    replayEventsAfter: async (last: string, { send }: { send: (id: string, message: any) => Promise<void> }) => {
      const stream = (await streamOf(last))!
      const from = events.findIndex(({ id }) => id === last)
      for (const event of events.slice(from + 1)) {
        // The first event of a stream has no message.
        if (event.stream === stream && "jsonrpc" in event.message) await send(event.id, event.message)
      }
      return stream
    }
  }
}

const begin = async (
  version: Version,
  options: Options,
  gate: Promise<void>,
  opened: (id: string) => void
): Promise<Session> => {
  const settings = {
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: opened,
    enableJsonResponse: options.json === true,
    ...(options.resumable === true ? { eventStore: eventStore() } : {}),
    ...(options.retry === undefined ? {} : { retryInterval: options.retry })
  }
  const transport = version === "1.32" ? new Http1(settings) : new Http2(settings)
  const server = options.server?.() ?? (version === "1.32" ? server1(gate) : server2(gate))
  await server.connect(transport as never)
  return {
    handle: (request) => transport.handleRequest(request),
    changed: () => server.sendToolListChanged(),
    close: () => server.close()
  }
}

const read = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text
}

const write = async (response: Response, to: ServerResponse): Promise<void> => {
  response.headers.forEach((value, name) => to.setHeader(name, value))
  to.writeHead(response.status)
  to.flushHeaders()
  const reader = response.body?.getReader()
  if (reader === undefined) return void to.end()
  to.on("close", () => void reader.cancel().catch(() => {}))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return void to.end()
    to.write(value)
  }
}

const listen = (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
): Effect.Effect<{ readonly port: number; readonly sockets: ReadonlySet<Socket> }, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Socket>()
    const server = createServer(patient, (request, response) => {
      handle(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(String(error))
      })
    })
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { port: (server.address() as AddressInfo).port, sockets }
  })

export const http = (version: Version, options: Options = {}): Effect.Effect<Started, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sessions = new Map<string, Session>()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const log: Array<string> = []
    const { port, sockets } = yield* listen(async (request, response) => {
      const text = await read(request)
      log.push(`${request.method}${text === "" ? "" : ` ${JSON.parse(text).method ?? "answer"}`}`)
      const id = request.headers["mcp-session-id"] as string | undefined
      let session = id === undefined ? undefined : sessions.get(id)
      if (id === undefined) {
        const beginning: { session?: Session } = {}
        session = beginning.session = await begin(
          version,
          options,
          gate,
          (id) => void sessions.set(id, beginning.session!)
        )
      } else if (session === undefined) {
        const error = { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }
        return void response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(error))
      }
      const web = new Request(`http://127.0.0.1:${port}${request.url}`, {
        method: request.method!,
        headers: Object.entries(request.headers) as Array<[string, string]>,
        ...(text === "" ? {} : { body: text })
      })
      const answer = await session.handle(web)
      if (request.method === "DELETE") sessions.delete(id!)
      await write(answer, response)
    })
    const forget = Effect.promise(async () => {
      const all = [...sessions.values()]
      sessions.clear()
      await Promise.all(all.map((session) => session.close()))
    })
    yield* Effect.addFinalizer(() => forget)
    return {
      port,
      url: `http://127.0.0.1:${port}/mcp`,
      forget,
      sessions: () => sessions.size,
      sockets: () => sockets.size,
      log,
      release: Effect.sync(() => open()),
      changed: Effect.promise(async () => {
        for (const session of sessions.values()) await session.changed()
      })
    }
  })

/** A server for both eras, or for the modern one only, with all features. The modern era has no sessions. */
export const modern = (
  { eras = "both", responseMode = "auto" }: {
    readonly eras?: "both" | "modern"
    readonly responseMode?: "auto" | "sse" | "json"
  } = {}
): Effect.Effect<
  { readonly url: string; readonly log: ReadonlyArray<string>; readonly reports: ReadonlyArray<string> },
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const log: Array<string> = []
    const reports: Array<string> = []
    const handler: McpHttpHandler = createMcpHandler(
      offering({
        report: (line: string) => reports.push(line),
        changed: (what: "tools" | "resources" | "prompts") => handler.notify[`${what}Changed`](),
        touched: (uri: string) => handler.notify.resourceUpdated(uri)
      }),
      { legacy: eras === "both" ? "stateless" : "reject", responseMode }
    )
    const { port } = yield* listen(async (request, response) => {
      const text = await read(request)
      log.push(`${request.method}${text === "" ? "" : ` ${JSON.parse(text).method ?? "answer"}`}`)
      const abort = new AbortController()
      response.on("close", () => abort.abort())
      if (response.destroyed) abort.abort()
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1:${port}${request.url}`, {
          method: request.method!,
          headers: Object.entries(request.headers) as Array<[string, string]>,
          signal: abort.signal,
          ...(text === "" ? {} : { body: text })
        })
      )
      await write(answer, response)
    })
    yield* Effect.addFinalizer(() => Effect.promise(() => handler.close()))
    return { url: `http://127.0.0.1:${port}/mcp`, log, reports }
  })

/** The two endpoints of 2024-11-05, which only version 1 of the SDK serves. */
export const sse: Effect.Effect<{ readonly url: string; readonly sockets: () => number }, never, Scope.Scope> = Effect
  .gen(function*() {
    const transports = new Map<string, SSEServerTransport>()
    const { port, sockets } = yield* listen(async (request, response) => {
      const url = new URL(request.url!, "http://127.0.0.1")
      if (request.method === "GET" && url.pathname === "/sse") {
        const transport = new SSEServerTransport("/messages", response)
        transports.set(transport.sessionId, transport)
        await server1(Promise.resolve()).connect(transport)
      } else if (request.method === "POST" && url.pathname === "/messages") {
        await transports.get(url.searchParams.get("sessionId") ?? "")!.handlePostMessage(request, response)
      } else {
        response.writeHead(404).end()
      }
    })
    return { url: `http://127.0.0.1:${port}/sse`, sockets: () => sockets.size }
  })
