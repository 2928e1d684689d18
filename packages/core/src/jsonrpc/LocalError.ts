/**
 * The ways in which a call can fail on this side, without an answer from the peer. When the peer answers with an error, the call fails with
 * a `JsonRpcError` instead. `Transport` and `Conversation` fail with the errors of this module.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The transport failed on this side.
 *
 * `Open`: the transport could not be opened. `Read` and `Write`: reading or writing failed. `Encode`: a message of this side has no JSON
 * form. `Decode`: the peer sent a response that is malformed or too large.
 *
 * @category errors
 */
export class TransportError extends Data.TaggedError("TransportError")<{
  readonly reason: "Open" | "Read" | "Write" | "Encode" | "Decode"
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * The conversation has ended, so no answer will come.
 *
 * @category errors
 */
export class ConnectionClosed extends Data.TaggedError("ConnectionClosed")<{
  /** The failure of the transport that ended the conversation; `undefined` when the conversation ended otherwise. */
  readonly cause?: TransportError | undefined
  /**
   * Whether the request was not sent. With `true`, the peer has not served the request, and a client may send the request again in another
   * conversation. With `false`, the peer may have served the request. A call may consist of several requests when the server asks for
   * input. Then `isUnsent` is about the last of these requests, and the peer has served the earlier requests. Default: `false`.
   */
  readonly isUnsent?: boolean | undefined
}> {
  override get message(): string {
    return this.cause === undefined ? "Connection closed" : `Connection closed: ${this.cause.message}`
  }
}

/**
 * No answer came in time. This side has cancelled the request, except when the option `cancelOnAbandon` is `false`.
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
 * This side cannot send the request, because the channel carries no requests to the other side.
 *
 * @category errors
 */
export class NoBackChannel extends Data.TaggedError("NoBackChannel")<{ readonly method: string }> {
  override get message(): string {
    return `Cannot send "${this.method}": the connection cannot carry requests to the other side, or the request to which it belongs is already answered`
  }
}

/**
 * The server does not have the session of the client any more. It is not known whether the server has served the request. The client can
 * begin a new session.
 *
 * @category errors
 */
export class SessionExpired extends Data.TaggedError("SessionExpired")<{ readonly method: string }> {
  override get message(): string {
    return `The session expired before "${this.method}" was answered. It is not known whether the server has served the request`
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
