/**
 * The way to speak to the other side: ask and wait, or tell and go on. Everything above this package speaks through it
 * and knows no transport.
 *
 * A channel that cannot carry something says so itself (`none`); there are no flags upstairs. The ways a call can end
 * without an answer are here: nobody to ask, nobody left, nobody in time, nobody who remembers. The peer's own refusal is a
 * `JsonRpcError`, so the one can never be taken for the other.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { JsonRpcError } from "./JsonRpcError.js"
import type * as Message from "./Message.js"
import type * as Progress from "./Progress.js"
import { TransportError } from "./Transport.js"

/**
 * The conversation is over: no answer will come.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionClosed extends Data.TaggedError("ConnectionClosed")<{
  /** What ended the conversation, when it was a fault of the pipe. */
  readonly cause?: TransportError | undefined
}> {
  override get message(): string {
    return this.cause === undefined ? "Connection closed" : `Connection closed: ${this.cause.message}`
  }
}

/**
 * No answer came in time. The peer was told to stop, unless the caller wanted it otherwise.
 *
 * @since 0.1.0
 * @category errors
 */
export class RequestTimeout extends Data.TaggedError("RequestTimeout")<{
  readonly method: string
  /** How long the request was given, in milliseconds. */
  readonly millis: number
}> {
  override get message(): string {
    return `Request "${this.method}" timed out after ${this.millis} ms`
  }
}

/**
 * This channel cannot carry requests to the other side.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoBackChannel extends Data.TaggedError("NoBackChannel")<{ readonly method: string }> {
  override get message(): string {
    return `Cannot send "${this.method}": there is no channel to the other side, or the request it belonged to has been answered`
  }
}

/**
 * The other side has forgotten who we are. A new conversation with it has begun, or can be begun; whether the request was
 * served before that, nobody knows.
 *
 * @since 0.1.0
 * @category errors
 */
export class SessionExpired extends Data.TaggedError("SessionExpired")<{ readonly method: string }> {
  override get message(): string {
    return `The session expired before "${this.method}" was answered: it may have been served, or not`
  }
}

/**
 * How a call can fail on this side, without an answer.
 *
 * @since 0.1.0
 * @category errors
 */
export type LocalError = ConnectionClosed | RequestTimeout | NoBackChannel | SessionExpired | TransportError

/**
 * @since 0.1.0
 * @category guards
 */
export const isLocalError = (error: unknown): error is LocalError =>
  error instanceof ConnectionClosed || error instanceof RequestTimeout || error instanceof NoBackChannel ||
  error instanceof SessionExpired || error instanceof TransportError

/**
 * How a call can fail: the peer's refusal, or one of our own.
 *
 * @since 0.1.0
 * @category errors
 */
export type CallError = JsonRpcError | LocalError

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions {
  /**
   * How long to wait, from the moment the request is handed over. `0` fails at once with `RequestTimeout`; left out, the
   * conversation's own timeout holds, and without one the wait has no end.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Whether progress starts the timeout anew. It needs no `onProgress`. */
  readonly resetTimeoutOnProgress?: boolean | undefined
  /** The longest wait in all, whatever progress comes. */
  readonly maxTotalTimeout?: Duration.DurationInput | undefined
  /**
   * Runs for each progress notification, one after another, all before the call returns. It is interrupted with the call;
   * a failure or a defect in it is logged and costs that notification only.
   */
  readonly onProgress?: ((progress: Progress.Progress) => Effect.Effect<void>) | undefined
  /** Whether to tell the peer to stop when the caller is interrupted or the time is over. Default: true. */
  readonly cancelOnAbandon?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Outbound {
  /** Asks and waits. Interrupting the caller sends `notifications/cancelled`; the answer to it is ignored. */
  readonly request: (
    method: string,
    params?: Message.Params,
    options?: RequestOptions
  ) => Effect.Effect<Message.Params, CallError>
  /** Tells. Suspends while the way out is full; dropped when nobody is left to hear it. */
  readonly notify: (method: string, params?: Message.Params) => Effect.Effect<void>
}

/**
 * A channel to nobody: every request is refused, every notification dropped.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: Outbound = {
  request: (method) => Effect.fail(new NoBackChannel({ method })),
  notify: () => Effect.void
}
