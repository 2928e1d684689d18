/**
 * The service to which all transports of a server give their messages. There are three ways. A transport that carries many messages of one
 * client is a conversation (`accept`). A listener yields a transport for every client (`listen`). A transport that has one message at a
 * time gets the answer as a stream (`serve`). All this work runs on fibers in the scope of the server, and ends with this scope.
 *
 * `McpServer.layer` provides the service; a transport is a layer that requires the service. `listening` counts a listener for as long as
 * the listener runs, and `listeners` gives the number of these listeners. `dispatch/Dispatch` implements the service. The server's HTTP
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
   * Serves the client of one transport, until the client or the server ends the conversation. When this effect is interrupted, it ends the
   * conversation: it interrupts the handlers, and answers the requests that have no answer yet.
   *
   * `caller` is what the transport knows of its client, for the authenticator of the server. Default: nothing is known.
   */
  readonly accept: (transport: Transport, caller?: Caller) => Effect.Effect<void>
  /**
   * Serves every client that a listener yields. Ends when the listener and all its conversations have ended. When the listener fails, this
   * effect ends its conversations and fails with the same error.
   */
  readonly listen: <E, R>(
    listener: Listener<E, R>,
    caller?: (transport: Transport) => Caller
  ) => Effect.Effect<void, E, R>
  /**
   * Serves one message that belongs to no conversation, as a POST without a session is served. It is for a transport that has one message
   * at a time, such as a cloud function or a queue. Each run of the stream serves the message once, after the authenticator has found the
   * user of the `caller`. Default of `caller`: nothing is known of the caller.
   *
   * For a request the stream has the notifications of the request, and ends with its answer, the only response. Every failure is an error
   * in this answer. The handler is suspended while 256 messages wait for the reader. For a notification or a response the stream is empty.
   * A malformed message is answered with an error. Each message of a batch needs a call of its own. A value is checked as if its JSON text
   * had been parsed, so you may pass a body that the platform has parsed.
   *
   * When the stream is closed before the answer, a request of revision 2026-07-28 or later is interrupted, and nothing waits for its
   * finalizers. The handler of a request of an earlier revision runs on for 30 seconds at most.
   *
   * The headers of an HTTP caller must agree with the message, as over HTTP; without headers nothing is compared. A request of revision
   * 2025-11-25 or earlier has the revision that the header `MCP-Protocol-Version` names, or else 2025-03-26 where the server supports it.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
   */
  readonly serve: (incoming: Message.Incoming, caller?: Caller) => Stream.Stream<Message.Message>
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  /**
   * Counts as a running listener until the scope closes. It is for a listener that passes the messages on itself, such as an HTTP endpoint.
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
 * The identifier of a service that only one function provides, the function `Name`. Where the service is missing, the compiler shows this
 * identifier.
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
  /** Limits what clients can make the server hold, do, or wait for. A limit that is not given has its default. */
  readonly limits?: ServerLimits | undefined
  /**
   * How long closing a conversation waits for handlers that cannot be interrupted, and after that how long it waits for the release of its
   * session layer. It is also how long closing the server waits for the release of the features. What takes longer is reported, and the
   * closing goes on. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Sends a `ping` to a client that was silent for `interval`. When a client does not answer two pings in a row within `interval`, the
   * server ends the conversation. Over HTTP a client gets pings only while it reads a stream. Clients of revision 2026-07-28 get no pings:
   * this revision has none, and its servers send no requests. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * Runs for each handler that died, after the cause was logged. It is for a service that collects errors, and for tests. At most 64
   * reports run at once for one client; further reports are dropped.
   */
  readonly onDefect?: ((defect: Defect) => Effect.Effect<void>) | undefined
}

/**
 * A handler that died. The client received "Internal error".
 *
 * @category models
 */
export interface Defect {
  readonly method: string
  /** What the handler serves, for example `tool "search"`; `undefined` for the handler of a notification. */
  readonly subject: string | undefined
  readonly cause: Cause.Cause<unknown>
}
