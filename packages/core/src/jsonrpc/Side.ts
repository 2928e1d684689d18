/**
 * What one side of a conversation does with the requests and notifications of the peer. A `Side` is the contract between two parts: a
 * `Conversation` runs the work and sends the answers, and the modules of `client` and `server` know the methods.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as JsonRpcError from "./JsonRpcError.js"
import type * as Message from "./Message.js"
import type { Outbound } from "./Outbound.js"
import * as Outcome from "./Outcome.js"
import type { Transport } from "./Transport.js"

/**
 * What one side does with the requests of the peer.
 *
 * @category models
 */
export interface RequestSide {
  /**
   * Called for each request in the order of arrival, before any later message is read. The effects of requests run concurrently. Each
   * effect runs at once, up to its first asynchronous step.
   */
  readonly onRequest: (request: Message.Request, incoming: IncomingRequest) => Work
  /**
   * Whether requests of this method start at once, and never wait for other requests to end. It applies to requests of the peer and to
   * requests of this side. Such requests are cheap, like `ping`. Default: every request may wait.
   */
  readonly neverWaits?: ((method: string) => boolean) | undefined
  /**
   * The limit of a request that stays open, such as a subscription, in place of the limit of the conversation. Default: no request has a
   * limit of its own.
   */
  readonly ownLimit?: ((request: Message.Request, channel: Channel) => OwnLimit | undefined) | undefined
  /** The code of the error with which a request is refused while no permit is free. Default: `UNAVAILABLE`. */
  readonly unavailableCode?: ((request: Message.Request) => number) | undefined
}

/**
 * A limit for the requests of one kind, in place of the limit of the conversation. A request that finds no free permit is refused.
 *
 * @category models
 */
export interface OwnLimit {
  /** Takes a permit. Returns `false` when no permit is free. */
  readonly enter: () => boolean
  /** Gives a permit back. */
  readonly leave: () => void
}

/**
 * What one side does with the requests and notifications of the peer.
 *
 * @category models
 */
export interface Side extends RequestSide {
  /** Chooses the `RequestSide` of a request. Called once for each request. Default: the `Side` itself serves each request. */
  readonly sideOf?: ((request: Message.Request) => RequestSide) | undefined
  /**
   * Called for each notification in the order of arrival, like `onRequest`. Returns the effect that handles the notification, or
   * `undefined` when there is nothing to do. A defect of the effect is reported as a diagnostic.
   */
  readonly onNotification: (
    notification: Message.Notification,
    channel: Channel
  ) => Effect.Effect<void> | undefined
}

/**
 * How one request is served: an effect, and the mapping of its exit to an answer.
 *
 * @category models
 */
export interface Work {
  /** Runs the handler. The conversation interrupts it when the peer cancels the request, or when the conversation closes. */
  readonly effect: Effect.Effect<unknown, unknown>
  /** The context in which the effect runs. Default: the context in which the conversation was made. */
  readonly context?: Context.Context<never> | undefined
  /** Maps the exit of the effect to the answer. Not called when the request was cancelled. */
  readonly reply: (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome
  /** Returns the effect that releases resources before the answer is sent; `undefined` when there is nothing to release. */
  readonly release?: ((exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> | undefined) | undefined
  /** The answer to a request that runs when the conversation closes. Default: `Outcome.closing`. */
  readonly closing?: (() => Outcome.Outcome) | undefined
  /** Whether the peer may cancel the request. Default: `true`. */
  readonly cancellable?: boolean | undefined
}

/**
 * Where the answer to a message is sent: the transport, or one of many HTTP requests. Each channel has request ids of its own.
 *
 * @category models
 */
export interface Channel extends Pick<Transport, "send" | "unsafeSend" | "canSend" | "canRequest"> {
  /** Sends the answer to a request, for a channel that needs the whole outcome. Default: `unsafeSend` sends the response. */
  readonly answer?: ((id: Message.RequestId, outcome: Outcome.Outcome) => void) | undefined
  /** Called for a request that gets no answer, because the peer cancelled it. A pipe does not need this function. */
  readonly onUnanswered?: ((id: Message.RequestId) => void) | undefined
  /** Called for a request that has to wait until other requests have ended. A pipe does not need this function. */
  readonly onWaiting?: ((id: Message.RequestId) => void) | undefined
  /** Called for a request that has waited, before it starts. */
  readonly onStarted?: ((id: Message.RequestId) => void) | undefined
  /** What a caller of the conversation (`client`, `server`) knows about the origin of the messages. The conversation does not read it. */
  readonly origin?: unknown
}

/**
 * One request of the peer while a handler answers it. Its functions send requests and notifications to the peer meanwhile. Once the request
 * is answered or cancelled, these requests fail with `NoBackChannel`, and these notifications are dropped.
 *
 * @category models
 */
export interface IncomingRequest extends Outbound {
  readonly id: Message.RequestId
  readonly method: string
  readonly channel: Channel
  /**
   * Why the peer has cancelled the request, at most 1,024 characters. `undefined` when the request was not cancelled, or without a reason.
   */
  readonly cancelReason: string | undefined
  /** `false` once the request is answered or cancelled. */
  readonly open?: boolean | undefined
}

/**
 * A side made of two handlers. The handlers run in the context in which this effect runs.
 *
 * @category constructors
 */
export const make = <R = never, R2 = never>(handlers: {
  readonly onRequest: (
    request: Message.Request,
    outbound: Outbound
  ) => Effect.Effect<Message.Params, JsonRpcError.JsonRpcError, R>
  readonly onNotification?: ((notification: Message.Notification) => Effect.Effect<void, never, R2>) | undefined
}): Effect.Effect<Side, never, R | R2> =>
  Effect.map(Effect.context<R | R2>(), (context) => ({
    onRequest: (request, incoming) => ({
      effect: Effect.suspend(() => handlers.onRequest(request, incoming)) as Effect.Effect<unknown, unknown>,
      context: context as Context.Context<never>,
      reply: Outcome.fromExit
    }),
    onNotification: (notification) =>
      handlers.onNotification === undefined
        ? undefined
        : Effect.provide(Effect.suspend(() => handlers.onNotification!(notification)), context)
  }))
