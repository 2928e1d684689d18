/**
 * Sends plain HTTP requests with Node's own client, one connection for each request. The clients of a run use this module, so that they do
 * not depend on the library that is tested. The module also reads event streams. It does not interpret JSON-RPC.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type IncomingMessage, request } from "node:http"

export class HttpFault extends Data.TaggedError("HttpFault")<{
  /** `unreachable` means that there was no connection, so nothing was sent. `broken` means that the connection was lost later. */
  readonly reason: "unreachable" | "broken"
  readonly message: string
}> {}

export interface Request {
  readonly method: "POST" | "GET" | "DELETE"
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface Event {
  readonly id: string | undefined
  readonly data: string
}

const broken = (error: unknown) => new HttpFault({ reason: "broken", message: String(error) })

/** Sends a request, and waits for the head of the response. The connection is destroyed when the scope closes. */
export const send = (
  port: number,
  { body, headers, method }: Request
): Effect.Effect<IncomingMessage, HttpFault, Scope.Scope> =>
  Effect.gen(function*() {
    let isConnected = false
    const exchange = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const exchange = request({ host: "127.0.0.1", port, path: "/mcp", method, headers, agent: false })
        exchange.on("error", () => {})
        exchange.on("socket", (socket) =>
          socket.once("connect", () => {
            isConnected = true
          }))
        return exchange
      }),
      (exchange) => Effect.sync(() => exchange.destroy())
    )
    return yield* Effect.async<IncomingMessage, HttpFault>((resume) => {
      exchange.once("error", (error) =>
        resume(
          Effect.fail(isConnected ? broken(error) : new HttpFault({ reason: "unreachable", message: `${error}` }))
        ))
      exchange.once("response", (response) => {
        response.on("error", () => {})
        resume(Effect.succeed(response))
      })
      exchange.end(body)
    })
  })

/**
 * Returns the texts of a body. (The async iterator of the response is not used, because it would end only with the connection, even when
 * nobody reads any more.)
 */
const texts = (response: IncomingMessage): Stream.Stream<string, HttpFault> =>
  Stream.asyncPush<string, HttpFault>((emit) =>
    Effect.sync(() => {
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => void emit.single(chunk))
      response.once("end", () => emit.end())
      response.once("error", (error) => void emit.fail(broken(error)))
      response.once("close", () => void emit.fail(broken("closed")))
    }), { bufferSize: "unbounded" })

export const text = (response: IncomingMessage): Effect.Effect<string, HttpFault> => Stream.mkString(texts(response))

export const isEventStream = (response: IncomingMessage): boolean =>
  response.headers["content-type"]?.startsWith("text/event-stream") === true

/** Returns the events of an event stream, without its comments. */
export const events = (response: IncomingMessage): Stream.Stream<Event, HttpFault> => {
  let rest = ""
  return Stream.mapConcat(texts(response), (chunk) => {
    const parts = (rest + chunk).split("\n\n")
    rest = parts.pop()!
    return parts.flatMap((part) => {
      const fields = part.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line))
      const of = (name: string) => fields.find((field) => field?.[1] === name)?.[2]
      const data = of("data")
      return data === undefined && of("id") === undefined ? [] : [{ id: of("id"), data: data ?? "" }]
    })
  })
}
