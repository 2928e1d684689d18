/**
 * The options of a connection with every default filled in. `Remote` resolves them once; the modules below read settings
 * and never options.
 */
import * as Headers from "@effect/platform/Headers"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/kit/Outbox"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import { type Authorizer, type Options, reconnect, type RemoteSession } from "../RemoteOptions.js"

/** Times are in milliseconds. The services that the effects need are in the runtime of the connection. */
export interface Settings {
  readonly transport: "auto" | "streamable" | "sse"
  readonly headers: Headers.Headers
  readonly headersEffect: Effect.Effect<Headers.Input, unknown> | undefined
  /** Gives the headers of a second attempt. */
  readonly authorize: Exclude<Options["authorize"], Authorizer>
  readonly authorizer: Authorizer | undefined
  readonly onRenewed: Effect.Effect<void, unknown> | undefined
  readonly onSession: Options["onSession"]
  readonly session: RemoteSession | undefined
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
  /** `undefined` for no limit. */
  readonly readTimeout: number | undefined
  readonly terminateOnClose: boolean
  readonly tracing: boolean
}

/** The headers that an application may set: all but those of the protocol. */
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

export const fromOptions = <R>(given: Options<R>): Settings => {
  // Every effect runs in a runtime that has its services.
  const options = given as Options
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
    maxResumes: options.maxResumes ?? 5,
    maxRedirects: options.maxRedirects ?? 3,
    maxInFlight: options.maxInFlight ?? 64,
    capacity: options.capacity ?? Outbox.CAPACITY,
    maxBodyBytes: options.maxBodyBytes ?? Sse.MAX_EVENT_BYTES,
    maxEventBytes: options.maxEventBytes ?? Sse.MAX_EVENT_BYTES,
    maxDepth: options.maxDepth ?? Json.MAX_DEPTH,
    maxNodes: options.maxNodes ?? Json.MAX_NODES,
    maxResponseNodes: options.maxResponseNodes ?? Json.MAX_RESPONSE_NODES,
    acceptTimeout: Duration.toMillis(options.acceptTimeout ?? "30 seconds"),
    closeTimeout: Duration.toMillis(options.closeTimeout ?? "1 second"),
    readTimeout: options.readTimeout === undefined ? undefined : Duration.toMillis(options.readTimeout),
    terminateOnClose: options.terminateOnClose ?? true,
    tracing: options.tracing ?? false
  }
}
