/**
 * What one side of a conversation does with the peer's requests and notifications: the contract between a `Conversation`, which runs the
 * work and sends the answers, and the modules of `client` and `server`, which know the methods.
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
   * Called in the order of arrival, before any later message is read. The effects of requests run concurrently; each effect
   * runs at once up to its first asynchronous step.
   */
  readonly onRequest: (request: Message.Request, incoming: IncomingRequest) => Work
  /**
   * Whether requests of this method never wait until other requests have ended, whether the peer or this side has sent them. Such requests
   * are cheap, like `ping`. Default: every request may wait.
   */
  readonly neverWaits?: ((method: string) => boolean) | undefined
  /** The own limit of a request that stays open, such as a subscription. Default: no request has an own limit. */
  readonly ownLimit?: ((request: Message.Request, channel: Channel) => OwnLimit | undefined) | undefined
  /** The code of the error that refuses a request while no permit is free. Default: `UNAVAILABLE`. */
  readonly unavailableCode?: ((request: Message.Request) => number) | undefined
}

/**
 * A limit that requests of one kind have instead of the limit of the conversation. A request beyond the limit is refused.
 *
 * @category models
 */
export interface OwnLimit {
  /** Takes a permit; `false` when no permit is free. */
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
  /** Gives what serves a request, where that depends on the request. Called once per request. Default: the side itself. */
  readonly sideOf?: ((request: Message.Request) => RequestSide) | undefined
  /**
   * Called in the order of arrival, like `onRequest`. Returns the effect that handles the notification, if there is one. A
   * defect of the effect is reported.
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
  readonly effect: Effect.Effect<unknown, unknown>
  /** The context in which the effect runs. Default: the context in which the conversation was made. */
  readonly context?: Context.Context<never> | undefined
  /** Maps the exit of the effect to the answer. Not called when the request was cancelled. */
  readonly reply: (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome
  /** Returns the effect that releases resources before the answer is sent, if there is one. */
  readonly release?: ((exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> | undefined) | undefined
  /** The answer when the conversation closes before the effect has ended. Default: `Outcome.closing`. */
  readonly closing?: (() => Outcome.Outcome) | undefined
  /** Whether the peer may cancel the request. Default: true. */
  readonly cancellable?: boolean | undefined
}

/**
 * Where the answer to a message is sent: the transport, or one of many HTTP requests. Each channel has ids of its own.
 *
 * @category models
 */
export interface Channel extends Pick<Transport, "send" | "unsafeSend" | "canSend" | "canRequest"> {
  /** Sends the answer to a request, on a channel that needs the whole outcome. Default: `unsafeSend` of the response. */
  readonly answer?: ((id: Message.RequestId, outcome: Outcome.Outcome) => void) | undefined
  /** Called for a request that will not be answered, because the peer cancelled it. A pipe leaves this out. */
  readonly onUnanswered?: ((id: Message.RequestId) => void) | undefined
  /** Called for a request that has to wait until other requests have ended. A pipe leaves this out. */
  readonly onWaiting?: ((id: Message.RequestId) => void) | undefined
  /** Called for a request that has waited, before it starts. */
  readonly onStarted?: ((id: Message.RequestId) => void) | undefined
  /** What the packages above know of the origin of the messages. The conversation does not read it. */
  readonly origin?: unknown
}

/**
 * One request while a handler answers it, with functions that send requests and notifications to its sender meanwhile.
 * Once the request is answered or cancelled, requests to its sender fail with `NoBackChannel`, and notifications are
 * dropped.
 *
 * @category models
 */
export interface IncomingRequest extends Outbound {
  readonly id: Message.RequestId
  readonly method: string
  readonly channel: Channel
  /** Why the peer has cancelled the request, at most 1,024 characters; `undefined` without a cancel or a reason. */
  readonly cancelReason: string | undefined
  /** `false` once the request is answered or cancelled. */
  readonly open?: boolean | undefined
}

/**
 * A side made of two handlers, which run in the context of this effect.
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
