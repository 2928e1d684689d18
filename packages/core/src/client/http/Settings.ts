/**
 * The options of a connection, with every default filled in. `Remote` makes the settings once. `negotiation/HttpTransport`,
 * `HttpConnection`, `HttpSender` and the transports of both protocol eras read these settings instead of the options. `reconnect` is the
 * default schedule of the attempts to resume a stream.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as Sse from "../../jsonrpc/Sse.js"
import * as Outbox from "../../kit/Outbox.js"
import type { Authorizer } from "../Authorizer.js"
import type { HttpResponseError } from "../HttpResponseError.js"

/** A session of an earlier connection: its id, and the revision on which client and server have agreed. */
interface StoredSession {
  readonly id: string
  readonly version: string
}

/** Runs when a request is refused, and returns the headers for a second attempt. */
type SecondHeaders<R> = (
  refusal: HttpResponseError,
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<Headers.Input, unknown, R>

/** The options of `Remote`. `Remote` documents each option. */
export interface Given<R = never> {
  readonly transport?: Settings["transport"] | undefined
  readonly headers?: Headers.Headers | Readonly<Record<string, string>> | Effect.Effect<Headers.Input, unknown, R>
  readonly authorize?: Authorizer<R> | SecondHeaders<R> | undefined
  readonly onRenewed?: Effect.Effect<void, unknown, R> | undefined
  readonly onSession?: ((session: StoredSession) => Effect.Effect<void, unknown, R>) | undefined
  readonly session?: StoredSession | undefined
  readonly standalone?: boolean | undefined
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  readonly limits?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } | undefined
  readonly readTimeout?: Duration.DurationInput | undefined
  readonly terminateOnClose?: boolean | undefined
  readonly acceptTimeout?: Duration.DurationInput | undefined
  readonly closeTimeout?: Duration.DurationInput | undefined
}

interface Limits {
  readonly maxResumes: number
  readonly maxRedirects: number
  readonly maxExchanges: number
  readonly capacity: number
  readonly maxBodyBytes: number
  readonly maxEventBytes: number
  readonly maxDepth: number | undefined
  readonly maxNodes: number
  readonly maxResponseNodes: number
}

/** The options with their defaults. Times are in milliseconds. The runtime of the connection has the services that the effects need. */
export interface Settings extends Limits {
  readonly transport: "auto" | "streamable" | "sse"
  readonly headers: Headers.Headers
  readonly headersEffect: Effect.Effect<Headers.Input, unknown> | undefined
  readonly authorize: SecondHeaders<never> | undefined
  readonly authorizer: Authorizer | undefined
  readonly onRenewed: Effect.Effect<void, unknown> | undefined
  readonly onSession: ((session: StoredSession) => Effect.Effect<void, unknown>) | undefined
  readonly session: StoredSession | undefined
  readonly standalone: boolean
  readonly reconnect: Schedule.Schedule<unknown, unknown>
  readonly acceptTimeout: number
  readonly closeTimeout: number
  /** `undefined` when there is no limit. */
  readonly readTimeout: number | undefined
  readonly terminateOnClose: boolean
}

/** The default waits before attempts to resume a stream. */
export const reconnect: Schedule.Schedule<Duration.Duration> = Schedule.exponential("1 second", 1.5).pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.seconds(30))),
  Schedule.jitteredWith({ min: 0, max: 1 })
)

/** Returns the headers without the headers of the protocol, which an application must not set. */
export const applicationHeaders = (headers: Headers.Input | undefined): Headers.Headers =>
  Headers.remove(Headers.fromInput(headers), reserved)

const reserved = [
  "accept",
  "content-length",
  "content-type",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id"
]

export const fromOptions = <R>(given: Given<R>): Settings => {
  // Every effect runs in a runtime that has the services of the effect.
  const options = given as Given
  const { limits = {} } = options
  const isEffect = Effect.isEffect(options.headers)
  return {
    transport: options.transport ?? "auto",
    headers: isEffect ? Headers.empty : applicationHeaders(options.headers as Headers.Headers | undefined),
    headersEffect: isEffect ? options.headers as Effect.Effect<Headers.Input, unknown> : undefined,
    authorize: typeof options.authorize === "function" ? options.authorize : undefined,
    authorizer: typeof options.authorize === "object" ? options.authorize : undefined,
    onRenewed: options.onRenewed,
    onSession: options.onSession,
    session: options.transport === "sse" ? undefined : options.session,
    standalone: options.standalone ?? true,
    reconnect: options.reconnect ?? reconnect,
    maxResumes: limits.maxResumes ?? 5,
    maxRedirects: limits.maxRedirects ?? 3,
    maxExchanges: limits.maxExchanges ?? 64,
    capacity: limits.capacity ?? Outbox.CAPACITY,
    maxBodyBytes: limits.maxBodyBytes ?? Sse.MAX_EVENT_BYTES,
    maxEventBytes: limits.maxEventBytes ?? Sse.MAX_EVENT_BYTES,
    maxDepth: limits.maxDepth,
    maxNodes: limits.maxNodes ?? JsonText.MAX_NODES,
    maxResponseNodes: limits.maxResponseNodes ?? JsonText.MAX_RESPONSE_NODES,
    acceptTimeout: Duration.toMillis(options.acceptTimeout ?? "30 seconds"),
    closeTimeout: Duration.toMillis(options.closeTimeout ?? "1 second"),
    readTimeout: options.readTimeout === undefined ? undefined : Duration.toMillis(options.readTimeout),
    terminateOnClose: options.terminateOnClose ?? true
  }
}
