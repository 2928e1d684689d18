/**
 * The one service that all transports of a server use: it runs a supervised conversation for each transport, and serves
 * single exchanges. `McpServer.layer` provides it; to add a transport to a server is to add a layer that requires it.
 *
 * @since 0.1.0
 */
import type * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { Delivery, Listener, Transport } from "@effect-mcp/jsonrpc/Transport"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { InternalError } from "@effect-mcp/protocol/McpError"
import type { Version } from "@effect-mcp/protocol/Version"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Caller, Found, Options as AuthenticatorOptions, Refuses } from "./Authenticator.js"
import type { HttpRefusal } from "./HttpRefusal.js"

export interface DispatcherService {
  /**
   * Serves the client of one transport, until the client or the server ends the conversation. Interruption ends the
   * conversation: it interrupts the handlers, and answers what they have not answered.
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
   * Finds the user of a caller, for a transport whose messages are authenticated one by one, and calls back once, at once or
   * later. Gives a function that interrupts it. The `origin` of the message's channel must have `principal` and `user` of what
   * was found. `undefined` on a server without an authenticator.
   */
  readonly authenticate:
    | ((caller: Caller, then: (found: Either.Either<Found, Refuses>) => void) => () => void)
    | undefined
  /** The documents of the authenticator, by their paths; an HTTP transport serves them to every client and web page. */
  readonly documents: AuthenticatorOptions<unknown>["documents"]
  /** The scopes that a message, or a batch, requires of its user: what `Feature.requires` names. */
  readonly requiredScopes: (incoming: Message.Incoming) => ReadonlyArray<string>
  /**
   * Begins a conversation whose messages the caller passes to `receive`; the transport is used to send only. It runs in the
   * server's context until it is closed. `onEnd` runs when the server closes it.
   */
  readonly open: (
    transport: Transport,
    onEnd: () => void,
    options?: {
      /** The revisions that the conversation may have. Default: all that the server supports. */
      readonly versions?: ReadonlyArray<Version> | undefined
      /** The session of the conversation, where several nodes may serve it one after another. */
      readonly shared?: SharedSession | undefined
    }
  ) => FedConversation
  /**
   * Serves one message that belongs to no conversation, as a client of this revision sent it. The response leaves on the
   * channel; the handler cannot send requests to the client. Returns a function that interrupts the request as long as it
   * has no response; closing the server does so too.
   */
  readonly exchange: (incoming: Message.Incoming, channel: Channel, version: Version) => () => void
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  /** Counts as a running listener until the scope closes: for one that feeds its conversations, such as an HTTP endpoint. */
  readonly listening: Effect.Effect<void, never, Scope.Scope>
  /** The number of listeners that are running. */
  readonly listeners: () => number
  /** Waits until no listener is running. */
  readonly listenersEnded: Effect.Effect<void>
  /** The number of open conversations. */
  readonly conversations: () => number
}

/** A session that one node of a server serves, and that another can take over. */
export interface SharedSession {
  /** What `store` got last, at another node; `undefined` for a session that begins here. */
  readonly facts: JsonObject | undefined
  /** Stores what another node needs. The requests that change it wait until this has ended, and fail with it. */
  readonly store: (facts: JsonObject) => Effect.Effect<void, InternalError | HttpRefusal>
}

/** An open conversation that its caller feeds. */
export interface FedConversation {
  /** Handles one more message of the client; its response leaves on the channel. Default: the transport. */
  readonly receive: (incoming: Delivery, channel?: Channel) => void
  /**
   * Ends the conversation: interrupts the handlers, and answers what they have not answered. Can be run again; the first
   * run waits for the end.
   */
  readonly close: Effect.Effect<void>
  /** The revision that both sides agreed on; `undefined` before `initialize` has succeeded. */
  readonly version: () => Version | undefined
  /** The number of the client's requests that have no response yet. */
  readonly inFlight: () => number
}

/** The identifier of a service that only this function provides. The compiler shows it where the service is missing. */
export interface ProvidedBy<in out Name extends string> {
  readonly "@effect-mcp/server/ProvidedBy": Name
}

// `& {}` lets the compiler show the identifier instead of the alias.
export type Dispatcher = ProvidedBy<"McpServer.layer"> & {}

export const Dispatcher: Context.Tag<Dispatcher, DispatcherService> = Context.GenericTag(
  "@effect-mcp/server/Dispatcher"
)

/** The default of `requestTimeout`. */
export const REQUEST_TIMEOUT: Duration.DurationInput = "60 seconds"

export interface Options {
  /** How many requests of one client are served at the same time; more wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /**
   * How many requests of one client may wait to be served; more get the error -32000, or -32603 from 2026-07-28 on.
   * Default: 1,024.
   */
  readonly maxWaiting?: number | undefined
  /** How many characters the waiting requests of one client may have; more get the same errors. Default: 16 Mi. */
  readonly maxWaitingText?: number | undefined
  /**
   * How many requests without a session are served at the same time, for all clients; more wait. Clients without a
   * principal share this limit, and those of what waits. Default: 4,096.
   */
  readonly maxExchanges?: number | undefined
  /**
   * How long closing a conversation waits for handlers that cannot be interrupted, and then for its session layer to be
   * released; and how long closing the server waits for its features to be released. What takes longer is reported, and goes
   * on. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Sends a ping to a client that was silent for `interval`, and ends its conversation when two in a row bring nothing
   * within `interval`. Over HTTP it needs a stream that the client reads. It is off for clients of 2026-07-28: that revision
   * has no ping, and a server sends no requests. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * How long a request to a client waits for its response, unless the request has a timeout: sampling, roots and `ping`. A
   * question to a person has `elicitationTimeout`. Default: 60 seconds.
   */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /**
   * Runs for each handler that died, after the log has its cause: for a service that collects errors, and for tests. At
   * most 64 run at once for one client; further ones are dropped.
   */
  readonly onDefect?: ((defect: Defect) => Effect.Effect<void>) | undefined
}

/** A handler that died. The client received "Internal error". */
export interface Defect {
  readonly method: string
  /** What the handler serves, `tool "search"` for example; `undefined` for the handler of a notification. */
  readonly subject: string | undefined
  readonly cause: Cause.Cause<unknown>
}
