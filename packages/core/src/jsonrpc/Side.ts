/**
 * A `Side` says what one side of a conversation does with the requests and notifications of the peer. The modules of `client` and `server`
 * make a `Side`, and a `Conversation` runs its effects and sends the answers.
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
   * Returns the work for a request. The conversation calls this function for each request in the order of arrival, before it reads any
   * later message. The effects of requests run concurrently. Each effect starts immediately, and runs to its first asynchronous step before
   * the conversation continues.
   */
  readonly onRequest: (request: Message.Request, incoming: IncomingRequest) => Work
  /**
   * Whether requests of this method start immediately, without waiting for other requests to end. This applies to requests of the peer and
   * to requests of this side. Return `true` only for requests that need little work, such as `ping`. Default: every request may wait.
   */
  readonly neverWaits?: ((method: string) => boolean) | undefined
  /**
   * Returns a separate limit for a request that stays open, such as a subscription. This limit replaces the limit of the conversation.
   * Default: no request has a separate limit.
   */
  readonly ownLimit?: ((request: Message.Request, channel: Channel) => OwnLimit | undefined) | undefined
  /** Returns the error code with which this side refuses a request when too many requests run. Default: `UNAVAILABLE`. */
  readonly unavailableCode?: ((request: Message.Request) => number) | undefined
}

/**
 * A separate limit for the requests of one kind. This limit replaces the limit of the conversation. This side refuses a request when no
 * permit of the limit is free.
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
  /**
   * Chooses the `RequestSide` of a request. The conversation calls this function one time for each request. Default: the `Side` itself
   * serves each request.
   */
  readonly sideOf?: ((request: Message.Request) => RequestSide) | undefined
  /**
   * Returns the effect that handles a notification, or `undefined` when there is nothing to do. The conversation calls this function for
   * each notification in the order of arrival. It reports a defect of the effect as a diagnostic.
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
  /** Runs the handler. The conversation interrupts this effect when the peer cancels the request, or when the conversation closes. */
  readonly effect: Effect.Effect<unknown, unknown>
  /** The context in which the effect runs. Default: the context in which the conversation was made. */
  readonly context?: Context.Context<never> | undefined
  /** Makes the answer from the exit of the effect. The conversation does not call this function when the request was cancelled. */
  readonly reply: (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome
  /** Returns the effect that releases resources before the answer is sent; `undefined` when there is nothing to release. */
  readonly release?: ((exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> | undefined) | undefined
  /** Returns the answer to a request that is still running when the conversation closes. Default: `Outcome.closing`. */
  readonly closing?: (() => Outcome.Outcome) | undefined
  /** Whether the peer may cancel the request. Default: `true`. */
  readonly cancellable?: boolean | undefined
}

/**
 * The channel on which this side sends the answer to a message: the transport, or one of many HTTP requests. The ids of requests are
 * separate for each channel.
 *
 * @category models
 */
export interface Channel extends Pick<Transport, "send" | "unsafeSend" | "canSend" | "canRequest"> {
  /** Sends the answer to a request, when the channel needs the whole outcome. Default: `unsafeSend` sends the response. */
  readonly answer?: ((id: Message.RequestId, outcome: Outcome.Outcome) => void) | undefined
  /**
   * The function that is called when a request gets no answer because the peer cancelled the request. A pipe does not need this function.
   */
  readonly onUnanswered?: ((id: Message.RequestId) => void) | undefined
  /** The function that is called when a request has to wait until other requests have ended. A pipe does not need this function. */
  readonly onWaiting?: ((id: Message.RequestId) => void) | undefined
  /** The function that is called before a request that has waited starts. */
  readonly onStarted?: ((id: Message.RequestId) => void) | undefined
  /** Data about the origin of the messages, for the modules of `client` and `server`. The conversation does not read this data. */
  readonly origin?: unknown
}

/**
 * A request of the peer that a handler is answering. The handler can send requests and notifications to the peer with the functions of this
 * object. After the request is answered or cancelled, these requests fail with `NoBackChannel`, and these notifications are dropped.
 *
 * @category models
 */
export interface IncomingRequest extends Outbound {
  readonly id: Message.RequestId
  readonly method: string
  readonly channel: Channel
  /**
   * The reason that the peer gave when it cancelled the request, at most 1,024 characters. `undefined` when the request was not cancelled,
   * or was cancelled without a reason.
   */
  readonly cancelReason: string | undefined
  /** Whether the request is not yet answered or cancelled. */
  readonly open?: boolean | undefined
}

/**
 * Makes a `Side` from two handlers. The handlers run in the context of this effect.
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
