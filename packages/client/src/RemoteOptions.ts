/**
 * What can be said about a connection over HTTP, and what holds when nothing is said. What is done about it is the business
 * of the rooms that a connection is made of.
 *
 * @since 0.1.0
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { HttpRefused } from "./HttpRefused.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<out R = never> {
  /**
   * How the server is spoken to.
   *
   * - "streamable": Streamable HTTP, of 2025-03-26 and later.
   * - "sse": HTTP+SSE, the two endpoints of 2024-11-05; the URL is the one of the stream.
   * - "auto": the first, and the second when the server does not know it.
   *
   * Default: "auto".
   */
  readonly transport?: "auto" | "streamable" | "sse" | undefined
  /** More headers for all requests; an effect is run for each. Those of the protocol cannot be changed. */
  readonly headers?: Headers.Headers | Readonly<Record<string, string>> | Effect.Effect<Headers.Input, unknown, R>
  /**
   * What to do when a request is answered with 401 or 403: gives the headers to send it again with, once, or fails, and the
   * request fails with `HttpRefused` or with what this fails with as its cause. Default: nothing.
   */
  readonly authorize?:
    | ((refusal: HttpRefused, request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Headers.Input, unknown, R>)
    | undefined
  /**
   * Runs, beside everything else, when the server had forgotten the session and a new one was begun. What a server keeps
   * for a session is gone: the logging level, subscriptions.
   */
  readonly onRenewed?: Effect.Effect<void, unknown, R> | undefined
  /** Whether to listen to what the server says beside requests. Default: true. */
  readonly standalone?: boolean | undefined
  /**
   * How long to wait before each try to read on where a stream was cut off; it begins anew after every event. Never less
   * than 100 milliseconds, and never less than the server asks for. Default: 1 second and half as long again each time, up
   * to 30, at random between nothing and that.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  /** How many tries in a row may bring nothing before the request is given up whose stream it was. Default: 5. */
  readonly maxResumes?: number | undefined
  /** How many redirects are followed, all of them to the same origin. Default: 3. */
  readonly maxRedirects?: number | undefined
  /** How many of our requests may be in flight, each on a connection of its own; more wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How many messages may wait: for us before nothing is read any more, for the server before `send` suspends. Default: 256. */
  readonly capacity?: number | undefined
  /** Bytes that an answer in one piece may have. Default: 10 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Bytes that an event may have. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
  /** How deep a message may nest. Default: 64. */
  readonly maxDepth?: number | undefined
  /** How many values a request or a notification may hold, nested ones included. Default: 100,000. */
  readonly maxNodes?: number | undefined
  /** How many values a response to a request of ours may hold. Default: 1,000,000. */
  readonly maxResponseNodes?: number | undefined
  /** How long the server may take to accept what needs no answer, and to open the stream of 2024-11-05. Default: 30 seconds. */
  readonly acceptTimeout?: Duration.DurationInput | undefined
  /** How long closing waits, for what was said to be accepted, and for the session to be ended. Default: 1 second each. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /** Whether the `HttpClient` makes spans of our requests, which have no parent. Default: false. */
  readonly tracing?: boolean | undefined
}

/**
 * The options with nothing left open; times in milliseconds. What they need is in the runtime of the connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resolved {
  readonly transport: "auto" | "streamable" | "sse"
  readonly headers: Headers.Headers
  readonly headersEffect: Effect.Effect<Headers.Input, unknown> | undefined
  readonly authorize: Options["authorize"]
  readonly onRenewed: Effect.Effect<void, unknown> | undefined
  readonly standalone: boolean
  readonly reconnect: Schedule.Schedule<unknown, unknown>
  readonly maxResumes: number
  readonly maxRedirects: number
  readonly maxInFlight: number
  readonly capacity: number
  readonly maxBodyBytes: number
  readonly maxEventBytes: number
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxResponseNodes: number
  readonly acceptTimeout: number
  readonly closeTimeout: number
  readonly tracing: boolean
}

/**
 * The headers that an application may set: what the protocol says of a request is not among them.
 *
 * @since 0.1.0
 * @category conversions
 */
export const theirs = (headers: Headers.Input | undefined): Headers.Headers =>
  Headers.remove(Headers.fromInput(headers), reserved)

const reserved = [
  "accept",
  "content-length",
  "content-type",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id"
]

/**
 * How long to wait before each try, unless it is said otherwise.
 *
 * @since 0.1.0
 * @category constants
 */
export const reconnect: Schedule.Schedule<Duration.Duration> = Schedule.exponential("1 second", 1.5).pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.seconds(30))),
  Schedule.jitteredWith({ min: 0, max: 1 })
)

/**
 * @since 0.1.0
 * @category conversions
 */
export const resolve = <R>(given: Options<R>): Resolved => {
  // Everything runs on a runtime that has what they need.
  const options = given as Options
  const isEffect = Effect.isEffect(options.headers)
  return {
    transport: options.transport ?? "auto",
    headers: isEffect ? Headers.empty : theirs(options.headers as Headers.Headers | undefined),
    headersEffect: isEffect ? options.headers as Effect.Effect<Headers.Input, unknown> : undefined,
    authorize: options.authorize,
    onRenewed: options.onRenewed,
    standalone: options.standalone ?? true,
    reconnect: options.reconnect ?? reconnect,
    maxResumes: options.maxResumes ?? 5,
    maxRedirects: options.maxRedirects ?? 3,
    maxInFlight: options.maxInFlight ?? 64,
    capacity: options.capacity ?? Outbox.CAPACITY,
    maxBodyBytes: options.maxBodyBytes ?? Sse.MAX_EVENT_BYTES,
    maxEventBytes: options.maxEventBytes ?? Sse.MAX_EVENT_BYTES,
    maxDepth: options.maxDepth ?? Json.MAX_DEPTH,
    maxNodes: options.maxNodes ?? Json.MAX_NODES,
    maxResponseNodes: options.maxResponseNodes ?? Json.MAX_RESPONSE_NODES,
    acceptTimeout: DeadlineTimer.millis(options.acceptTimeout ?? "30 seconds"),
    closeTimeout: DeadlineTimer.millis(options.closeTimeout ?? "1 second"),
    tracing: options.tracing ?? false
  }
}
