/**
 * The typed half of one conversation: one verb for each method that a server knows, results checked, errors named. It
 * knows the methods and nothing of how the server is reached.
 *
 * @since 0.1.0
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Incident } from "@effect-mcp/jsonrpc/Incident"
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { Notification, Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import * as Reply from "@effect-mcp/jsonrpc/Reply"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import { TransportError } from "@effect-mcp/jsonrpc/Transport"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LoggingLevel, LoggingMessage } from "@effect-mcp/protocol/Logging"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import type * as Tools from "@effect-mcp/protocol/Tools"
import type { LegacyVersion, Version } from "@effect-mcp/protocol/Version"
import * as Versions from "@effect-mcp/protocol/Version"
import * as Chunk from "effect/Chunk"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ClientError, ConnectError } from "./ClientError.js"
import { fromCall, invalidResult } from "./ClientError.js"
import * as Initialize from "./legacy/Initialize.js"
import * as Notifications from "./Notifications.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Who we say we are. Default: the name and version of this library. */
  readonly clientInfo?: Implementation | undefined
  /** How long a request waits, unless it says so itself. Default: 60 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /** The revisions we speak; the latest is asked for. Default: all that begin with `initialize`. */
  readonly versions?: readonly [LegacyVersion, ...Array<LegacyVersion>] | undefined
  /** How many of the server's requests may be in flight. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How long closing waits for answers of ours that cannot be interrupted. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface CallOptions extends RequestOptions {
  /** `_meta` of the request. */
  readonly meta?: JsonObject | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ClientSessionService {
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  /** How to use the server, for the model. */
  readonly instructions: string | undefined
  readonly version: Version
  readonly ping: (options?: CallOptions) => Effect.Effect<void, ClientError>
  /** One page of the tools. */
  readonly listTools: (
    options?: CallOptions & { readonly cursor?: string | undefined }
  ) => Effect.Effect<Tools.ListToolsResult, ClientError>
  /** All tools, page after page; fails with reason `Decode` after 64 pages, and when a page would come twice. */
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /**
   * Calls a tool. That the tool failed is a result with `isError`; this fails when there is no result.
   *
   * Interrupting it stops the tool.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError>
  /** Asks the server to log from this level on. */
  readonly setLoggingLevel: (level: LoggingLevel, options?: CallOptions) => Effect.Effect<void, ClientError>
  /** Any method, unchecked. */
  readonly request: (
    method: string,
    params?: JsonObject,
    options?: CallOptions
  ) => Effect.Effect<JsonObject, ClientError>
  /** Any notification; dropped when nobody is left to hear it. */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
  /**
   * What the server tells unasked, from the moment this is run to the end of the conversation; a slow listener loses the
   * oldest.
   */
  readonly notifications: Stream.Stream<Notification>
  readonly logs: Stream.Stream<LoggingMessage>
  /** What was odd and ended nothing: late answers, errors without an id. Logged, while nobody listens. */
  readonly incidents: Stream.Stream<Incident>
  /** Waits until the conversation has ended; fails if the transport did. */
  readonly ended: Effect.Effect<void, ClientError>
}

/**
 * How many pages of a list are read before the server is taken to be endless.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_PAGES = 64

const self: Implementation = { name: "effect-mcp", version: "0.1.0" }

/**
 * Opens a conversation over a transport. It ends when the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  transport: Transport,
  options: Options = {}
): Effect.Effect<ClientSessionService, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const heard = yield* Notifications.make
    const conversation = yield* Conversation.make(transport, side(heard), {
      timeout: options.timeout ?? "60 seconds",
      maxInFlight: options.maxInFlight,
      closeTimeout: options.closeTimeout,
      report: heard.report
    })
    yield* Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(conversation.ended), heard.end)))
    const facts = yield* Initialize.run(conversation, {
      clientInfo: options.clientInfo ?? self,
      capabilities: {},
      versions: options.versions ?? Versions.legacy
    })
    const call = caller(conversation)
    const listTools: ClientSessionService["listTools"] = (asked) =>
      call(Methods.listTools, asked?.cursor === undefined ? undefined : { cursor: asked.cursor }, asked)
    return {
      ...facts,
      ping: (asked) => Effect.asVoid(call(Methods.ping, undefined, asked)),
      listTools,
      tools: pages(Methods.listTools.name, (cursor) => listTools({ cursor }), ({ tools }) => tools),
      callTool: (name, args, asked) =>
        call(Methods.callTool, args === undefined ? { name } : { name, arguments: args }, asked),
      setLoggingLevel: (level, asked) => Effect.asVoid(call(Methods.setLevel, { level }, asked)),
      request: (method, params, asked) => Effect.mapError(send(conversation, method, params, asked), fromCall),
      notify: conversation.notify,
      notifications: heard.all,
      logs: heard.logs,
      incidents: heard.incidents,
      ended: conversation.ended
    }
  })

const send = (outbound: Outbound, method: string, params: Params | undefined, options: CallOptions | undefined) =>
  outbound.request(
    method,
    options?.meta === undefined ? params : { ...params, _meta: { ...options.meta, ...(params?._meta as JsonObject) } },
    options
  )

const caller = (outbound: Outbound) => {
  const check = <R>(method: Method.Request<string, any, R>) => (answer: Params): Either.Either<R, ClientError> =>
    Either.mapLeft(method.decodeResult(answer), ({ issue }) => invalidResult(`"${method.name}"`, issue))
  return <P extends object, R>(
    method: Method.Request<string, P, R>,
    params: P | undefined,
    options: CallOptions | undefined
  ): Effect.Effect<R, ClientError> =>
    Effect.matchEffect(send(outbound, method.name, params as Params | undefined, options), {
      onFailure: (error) => Effect.fail(fromCall(error)),
      onSuccess: check(method)
    })
}

const pages = <P extends { readonly nextCursor?: string | undefined }, A>(
  method: string,
  list: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  items: (page: P) => ReadonlyArray<A>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    return Stream.paginateChunkEffect(undefined as string | undefined, (cursor) => {
      if (seen.has(cursor)) return Effect.fail(endless(method, "a cursor was given out twice"))
      if (seen.size === MAX_PAGES) return Effect.fail(endless(method, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.map(list(cursor), (page) => [
        Chunk.unsafeFromArray(items(page)),
        Option.map(Option.fromNullable(page.nextCursor), (next): string | undefined => next)
      ])
    })
  })

const endless = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` })

const unknown = (method: string): JsonRpcError =>
  new JsonRpcError(McpError.toWire(new McpError.MethodNotFound({ method }), "legacy"))

/** What a client answers: `ping`, and to anything else that it does not know it. */
const side = (heard: Notifications.Notifications): Conversation.Side => ({
  request: ({ method }) => ({
    effect: method === Methods.ping.name ? Effect.succeed({}) : Effect.fail(unknown(method)),
    reply: (exit) => Reply.fromExit(exit)
  }),
  notification: (notification) => {
    heard.publish(notification)
    return undefined
  }
})
