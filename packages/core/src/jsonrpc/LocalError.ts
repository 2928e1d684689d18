/**
 * The ways a call can fail on this side, without an answer from the peer. An error that the peer answered is a
 * `JsonRpcError`. `Transport` and `Conversation` fail with these errors.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The transport failed on this side.
 *
 * `Open`: the transport could not be opened. `Read` and `Write`: reading or writing failed. `Encode`: our message has
 * no JSON form. `Decode`: the peer sent a response that is malformed, or larger than a limit of this side.
 *
 * @category errors
 */
export class TransportError extends Data.TaggedError("TransportError")<{
  readonly reason: "Open" | "Read" | "Write" | "Encode" | "Decode"
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * The conversation is over: no answer will come.
 *
 * @category errors
 */
export class ConnectionClosed extends Data.TaggedError("ConnectionClosed")<{
  /** The failure of the transport that ended the conversation, if it ended with one. */
  readonly cause?: TransportError | undefined
  /**
   * True when the request was not sent: the peer has not served it, and it may be sent in another conversation. Otherwise the peer may have
   * served the request. In a call of several rounds, the request is the last round: the peer has served the rounds before.
   */
  readonly isUnsent?: boolean | undefined
}> {
  override get message(): string {
    return this.cause === undefined ? "Connection closed" : `Connection closed: ${this.cause.message}`
  }
}

/**
 * No answer came in time. Unless `cancelOnAbandon` is `false`, the request was cancelled.
 *
 * @category errors
 */
export class RequestTimeout extends Data.TaggedError("RequestTimeout")<{
  readonly method: string
  /** How long the request waited, in milliseconds. */
  readonly millis: number
}> {
  override get message(): string {
    return `Request "${this.method}" timed out after ${this.millis} ms`
  }
}

/**
 * This channel cannot carry requests to the other side.
 *
 * @category errors
 */
export class NoBackChannel extends Data.TaggedError("NoBackChannel")<{ readonly method: string }> {
  override get message(): string {
    return `Cannot send "${this.method}": there is no channel to the other side, or the request that it belongs to is answered`
  }
}

/**
 * The server no longer knows our session. Whether it served the request before is unknown. A new session can begin.
 *
 * @category errors
 */
export class SessionExpired extends Data.TaggedError("SessionExpired")<{ readonly method: string }> {
  override get message(): string {
    return `The session expired before "${this.method}" was answered. The server may or may not have served the request`
  }
}

/**
 * Any failure of a call on this side.
 *
 * @category errors
 */
export type LocalError = ConnectionClosed | RequestTimeout | NoBackChannel | SessionExpired | TransportError

/** @category guards */
export const isLocalError = (error: unknown): error is LocalError =>
  [ConnectionClosed, RequestTimeout, NoBackChannel, SessionExpired, TransportError].some((one) => error instanceof one)
