/**
 * HTTP clients that send exactly what a test gives them: complete requests, or any bytes on a socket.
 */
import type { EventStore } from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Sse from "@effect-mcp/core/Sse"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { type Duration, Effect, Fiber, Layer, type Scope, TestClock } from "effect"
import * as http from "node:http"
import * as net from "node:net"

export const info = { name: "test", version: "0.0.0" }

export const act = <R = never>(handler: Effect.Effect<unknown, never, R>, name = "act") =>
  McpServer.tool(Tool.make(name), () => Effect.asVoid(handler))

/** An HTTP server of the application on a free port, and its origin. */
export const listening = (listener: http.RequestListener, host = "127.0.0.1") =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<http.Server>((resume) => {
        const server = http.createServer(listener).listen(0, host, () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => {
      const { port } = server.address() as net.AddressInfo
      return { server, port, origin: `http://127.0.0.1:${port}` }
    }
  )

/** A server on a free port. */
export const served = (
  features: Layer.Layer<never, never, Registry>,
  options: Partial<HttpServer.Options> = {},
  store: Layer.Layer<EventStore> | Layer.Layer<never> = Layer.empty,
  server?: McpServer.Options
): Layer.Layer<HttpServer.HttpServer, HttpServer.ServeError> =>
  HttpServer.layer({ port: 0, ...options }).pipe(
    Layer.provide(McpServer.layer(info, features, server)),
    Layer.provide(store)
  )

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  readonly json: any
}

export const proper = { "content-type": "application/json", accept: "application/json, text/event-stream" }

export const initialize = (version = "2025-11-25"): Message.Request =>
  Message.request(0, "initialize", {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: "visitor", version: "0.0.0" }
  })

export const call = (id: Message.RequestId, name: string, args: object = {}): Message.Request =>
  Message.request(id, "tools/call", { name, arguments: args, _meta: { progressToken: id } })

/** Sends a request, and returns its complete response. */
export const ask = (
  url: string,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
  agent: http.Agent | false = false
): Effect.Effect<Answer, Error> =>
  Effect.async((resume) => {
    const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const request = http.request(url, { method: "POST", agent, headers: { ...proper, ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
      response.on("error", (error) => resume(Effect.fail(error)))
      response.on("end", () =>
        resume(Effect.succeed({
          status: response.statusCode!,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text)
          }
        })))
    })
    request.on("error", (error) => resume(Effect.fail(error)))
    request.end(text)
    return Effect.sync(() => request.destroy())
  })

export const open = (url: string, version?: string) =>
  Effect.map(ask(url, initialize(version)), ({ headers }) => ({ "mcp-session-id": String(headers["mcp-session-id"]) }))

/** An event stream, with the events so far. */
export interface Listening {
  readonly response: http.IncomingMessage
  readonly events: Array<Sse.Event>
  readonly messages: () => Array<any>
  readonly ended: () => boolean
  readonly close: Effect.Effect<void>
}

export const listen = (
  url: string,
  headers: http.OutgoingHttpHeaders,
  body?: unknown
): Effect.Effect<Listening, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Listening, Error>((resume) => {
      const options = {
        method: body === undefined ? "GET" : "POST",
        agent: false,
        headers: { ...proper, ...headers }
      } as const
      const request = http.request(url, options, (response) => {
        const decoder = new Sse.Decoder()
        const events: Array<Sse.Event> = []
        let ended = false
        response.on("data", (chunk: Buffer) => {
          for (const event of decoder.push(chunk)) events.push(event as Sse.Event)
        })
        response.on("close", () => ended = true)
        response.on("error", () => {})
        resume(Effect.succeed({
          response,
          events,
          messages: () => events.flatMap(({ data }) => data === undefined || data === "" ? [] : [JSON.parse(data)]),
          ended: () => ended,
          close: Effect.sync(() => request.destroy())
        }))
      })
      request.on("error", (error) => resume(Effect.fail(error)))
      request.end(body === undefined ? undefined : JSON.stringify(body))
    }),
    ({ close }) => close
  )

/** A socket, with the text that it has received. */
export const dial = (port: number) =>
  Effect.acquireRelease(
    Effect.async<{ readonly socket: net.Socket; readonly text: () => string; readonly closed: () => boolean }>(
      (resume) => {
        let text = ""
        let closed = false
        const socket = net.connect(port, "127.0.0.1", () =>
          resume(Effect.succeed({
            socket,
            text: () => text,
            closed: () => closed
          })))
        socket.on("data", (chunk) => text += chunk.toString())
        socket.on("error", () => {})
        socket.on("close", () => closed = true)
      }
    ),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** The text of a request. */
export const request = (
  body: string,
  headers: Readonly<Record<string, string>> = {},
  line = "POST /mcp HTTP/1.1"
): string => {
  const all = {
    host: "localhost",
    ...proper,
    ...(body === "" ? undefined : { "content-length": String(Buffer.byteLength(body)) }),
    ...headers
  }
  return `${line}\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`
}

const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Waits for turns of the event loop until a condition holds; independent of the clock. */
export const until = (so: () => boolean): Effect.Effect<void> =>
  Effect.asVoid(Effect.iterate(0, { while: () => !so(), body: () => Effect.as(turn, 0) }))

/** Runs an effect while time passes, in such steps, one with each turn of the event loop. */
export const passing = (step: Duration.DurationInput) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while (fiber.unsafePoll() === null) yield* Effect.zipRight(TestClock.adjust(step), turn)
    return yield* Fiber.join(fiber)
  })
