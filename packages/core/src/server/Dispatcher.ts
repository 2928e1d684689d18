/**
 * The service by which all transports of a server give their messages to the server. A transport with many messages gives a conversation
 * (`accept`), or every client that a listener yields (`listen`); a transport that has one message at a time gets the answer as a stream
 * (`serve`). All this work runs as fibers in the scope of the server, and ends with the scope.
 *
 * `McpServer.layer` provides the service; a transport is a layer that requires the service. `listening` counts a listener for as long as
 * the listener runs, and `listeners` is the number of these listeners. The server's endpoint over HTTP also enters by `dispatch/Dispatch`,
 * which implements the service.
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
   * Serves the client of one transport, until the client or the server ends the conversation. Interruption ends the conversation: it
   * interrupts the handlers, and answers the requests that have no answer yet.
   *
   * `caller` is what the transport knows of its client, for the authenticator of the server. Default: nothing.
   */
  readonly accept: (transport: Transport, caller?: Caller) => Effect.Effect<void>
  /**
   * Serves every client that a listener yields, until the listener has ended and all its conversations have. When the
   * listener fails, this ends its conversations and fails with the same error.
   */
  readonly listen: <E, R>(
    listener: Listener<E, R>,
    caller?: (transport: Transport) => Caller
  ) => Effect.Effect<void, E, R>
  /**
   * Serves one message that belongs to no conversation, as a POST without a session is served: for a transport that has one
   * message at a time, such as a function of a cloud or a queue. Each run of the stream serves the message once, after the
   * authenticator has found the user of the `caller`. Default: nothing is known of the caller.
   *
   * The stream of a request has the notifications of the request, and ends with its answer, the only response; every failure is
   * an error in that answer. A handler is suspended while 256 messages wait for the reader. The stream of a notification or a
   * response is empty. A malformed message is answered with an error; each message of a batch needs a call of its own. Any value is
   * checked as if its JSON text had been parsed, so a body that the platform has parsed may be given as it is.
   *
   * Closing the stream before the answer interrupts a request from 2026-07-28 on, without waiting for its finalizers. The
   * handler of an older request runs on, for 30 seconds at most.
   *
   * The headers of an HTTP caller must fit to the message, as over HTTP; without headers nothing is compared. An older request
   * has the revision of the header `MCP-Protocol-Version`, else 2025-03-26 where the server supports it.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
   */
  readonly serve: (incoming: Message.Incoming, caller?: Caller) => Stream.Stream<Message.Message>
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  /** Counts as a running listener until the scope closes: for a listener that itself passes the messages on, such as an HTTP endpoint. */
  readonly listening: Effect.Effect<void, never, Scope.Scope>
  /** The number of listeners that are running. */
  readonly listeners: () => number
  /** Waits until no listener is running. */
  readonly listenersEnded: Effect.Effect<void>
  /** The number of open conversations. */
  readonly conversations: () => number
}

/**
 * The identifier of a service that only this function provides. The compiler shows it where the service is missing.
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
  /** What clients can make the server hold, do, or wait for. A limit that is not given has its default. */
  readonly limits?: ServerLimits | undefined
  /**
   * How long closing a conversation waits for handlers that cannot be interrupted, and then for its session layer to be
   * released; and how long closing the server waits for its features to be released. What takes longer is reported, and goes
   * on. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Sends a ping to a client that was silent for `interval`, and ends its conversation when two pings in a row get no answer within
   * `interval`. Over HTTP the heartbeat needs a stream that the client reads. It is off for clients of 2026-07-28: that revision has no
   * ping, and a server sends no requests. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * Runs for each handler that died, after the log has its cause: for a service that collects errors, and for tests. At most 64 reports run
   * at once for one client; further reports are dropped.
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
  /** What the handler serves, `tool "search"` for example; `undefined` for the handler of a notification. */
  readonly subject: string | undefined
  readonly cause: Cause.Cause<unknown>
}
