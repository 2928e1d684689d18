/**
 * The service to which all transports of a server pass their messages. There are three functions for this. `accept` serves a conversation:
 * all messages of one client, on one transport. `listen` serves a listener, which yields a transport for every client. `serve` serves one
 * message, and gives the answer as a stream. The server handles all messages on fibers in its own scope, and interrupts these fibers when
 * the scope closes.
 *
 * `McpServer.layer` provides the service; a transport is a layer that requires the service. `listening` counts a listener until the
 * listener ends, and `listeners` gives the number of listeners that run. `dispatch/Dispatch` implements the service. The server's HTTP
 * endpoint uses further members of this implementation.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Message from "../jsonrpc/Message.js"
import type { Listener, Transport } from "../jsonrpc/Transport.js"
import type { Version } from "../protocol/Version.js"
import type { Caller } from "./Authenticator.js"
import type { ServerLimits } from "./Limits.js"

/** @category models */
export interface DispatcherService {
  /**
   * Serves the client of one transport, until the client or the server ends the conversation. Interrupting this effect ends the
   * conversation: the server interrupts the handlers, and answers the requests that have no answer yet.
   *
   * `caller` contains what the transport tells the authenticator about its client. Default: nothing.
   */
  readonly accept: (transport: Transport, caller?: Caller) => Effect.Effect<void>
  /**
   * Serves every client that a listener yields. This effect ends when the listener and all its conversations have ended. When the listener
   * fails, this effect ends the conversations and fails with the error of the listener.
   */
  readonly listen: <E, R>(
    listener: Listener<E, R>,
    caller?: (transport: Transport) => Caller
  ) => Effect.Effect<void, E, R>
  /**
   * Serves one message that belongs to no conversation, in the same way as an HTTP POST without a session. Use this function for a
   * transport that has one message at a time, such as a cloud function or a queue. When you run the stream, the authenticator finds the
   * user of the `caller`, and then the server serves the message. A second run serves the message again. Default of `caller`: the
   * authenticator gets no facts about the caller.
   *
   * For a request, the stream contains the notifications of the request, and ends with one response. When the request fails, the response
   * is an error. While 256 messages wait for the reader of the stream, the server suspends the handler. For a notification or a response,
   * the stream is empty. For a malformed request, the stream contains an error. Call this function for each message of a batch. You may
   * pass a JSON value that the platform has already parsed.
   *
   * The reader may close the stream before the response. With revision 2026-07-28 or later, the server then interrupts the handler, and the
   * reader does not wait for the handler's finalizers. With an earlier revision, the handler goes on, and the server interrupts it after 30
   * seconds.
   *
   * When the `caller` is an HTTP request, the server compares the headers of the request with the message, in the same way as the HTTP
   * endpoint. For a request of revision 2025-11-25 or earlier, the header `MCP-Protocol-Version` names the revision. Without this header,
   * the server uses revision 2025-03-26, if it supports this revision.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
   */
  readonly serve: (incoming: Message.Incoming, caller?: Caller) => Stream.Stream<Message.Message>
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  /**
   * Adds one to the number of running listeners until the scope closes. Use this effect in a listener that does not use `listen`, such as
   * an HTTP endpoint.
   */
  readonly listening: Effect.Effect<void, never, Scope.Scope>
  /** The number of listeners that are running. */
  readonly listeners: () => number
  /** Waits until no listener is running. */
  readonly listenersEnded: Effect.Effect<void>
  /** The number of open conversations. */
  readonly conversations: () => number
}

/**
 * The identifier of a service that only the function `Name` provides. When a program does not provide the service, the compiler's error
 * shows this identifier.
 *
 * @category models
 */
export interface ProvidedBy<in out Name extends string> {
  readonly "@effect-mcp/core/server/ProvidedBy": Name
}

// `& {}` lets the compiler show the identifier instead of the alias.
/** @category models */
export type Dispatcher = ProvidedBy<"McpServer.layer"> & {}

/** @category constants */
export const Dispatcher: Context.Tag<Dispatcher, DispatcherService> = Context.GenericTag(
  "@effect-mcp/core/Dispatcher"
)

/** @category models */
export interface Options {
  /** The limits of the memory, the work and the waiting that clients can cause. Each limit has its own default. */
  readonly limits?: ServerLimits | undefined
  /**
   * How long each step may take when the server closes a conversation or itself. When a conversation closes, the server first waits for
   * handlers that cannot be interrupted, and then for the release of the session layer. When the server closes itself, it waits for the
   * release of the features. When a step takes longer, the server logs this and continues with the next step. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Sends a `ping` to a client that was silent for `interval`. When a client does not answer two pings in a row within `interval`, the
   * server ends the conversation. Over HTTP the server sends pings only while the client reads a stream. Clients of revision 2026-07-28 or
   * later get no pings, because these revisions have no `ping`. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * Runs for each handler that died, after the server has logged the cause. Use it to report errors to a monitoring service, or in tests.
   * At most 64 of these effects run at the same time for one client. When a further handler dies, the server does not run the effect.
   */
  readonly onDefect?: ((defect: Defect) => Effect.Effect<void>) | undefined
}

/**
 * Describes a handler that died. The client received "Internal error".
 *
 * @category models
 */
export interface Defect {
  readonly method: string
  /** The request that the handler served, for example `tool "search"`; `undefined` for the handler of a notification. */
  readonly subject: string | undefined
  readonly cause: Cause.Cause<unknown>
}
