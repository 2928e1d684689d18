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
import { type Authorizer, type Limits, type Options, reconnect, type RemoteSession } from "../RemoteOptions.js"

type Resolved<O> = { readonly [Name in keyof O]-?: Exclude<O[Name], undefined> }

/** Times are in milliseconds. The services that the effects need are in the runtime of the connection. */
export interface Settings
  extends
    Resolved<Omit<Limits, "maxDepth">>,
    Pick<Limits, "maxDepth">,
    Resolved<Pick<Options, "transport" | "standalone" | "reconnect" | "terminateOnClose" | "tracing">>
{
  readonly headers: Headers.Headers
  readonly headersEffect: Effect.Effect<Headers.Input, unknown> | undefined
  /** Gives the headers of a second attempt. */
  readonly authorize: Exclude<Options["authorize"], Authorizer>
  readonly authorizer: Authorizer | undefined
  readonly onRenewed: Effect.Effect<void, unknown> | undefined
  readonly onSession: Options["onSession"]
  readonly session: RemoteSession | undefined
  readonly acceptTimeout: number
  readonly closeTimeout: number
  /** `undefined` for no limit. */
  readonly readTimeout: number | undefined
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
    maxNodes: limits.maxNodes ?? Json.MAX_NODES,
    maxResponseNodes: limits.maxResponseNodes ?? Json.MAX_RESPONSE_NODES,
    acceptTimeout: Duration.toMillis(options.acceptTimeout ?? "30 seconds"),
    closeTimeout: Duration.toMillis(options.closeTimeout ?? "1 second"),
    readTimeout: options.readTimeout === undefined ? undefined : Duration.toMillis(options.readTimeout),
    terminateOnClose: options.terminateOnClose ?? true,
    tracing: options.tracing ?? false
  }
}
