/**
 * The functions with which one side sends to the other side: `request`, which waits for the answer, and `notify`. `Conversation` implements
 * `Outbound`. Clients and servers send with an `Outbound`, so they do not depend on a transport. When a channel cannot carry requests, a
 * request fails with `NoBackChannel`, so callers do not need to check the channel first.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { JsonRpcError } from "./JsonRpcError.js"
import { type LocalError, NoBackChannel } from "./LocalError.js"
import type * as Message from "./Message.js"
import type * as Progress from "./Progress.js"
import type { SendOptions } from "./Transport.js"

/**
 * Why a call failed: the error with which the peer answered, or a failure on this side.
 *
 * @category errors
 */
export type CallError = JsonRpcError | LocalError

/** @category models */
export interface RequestOptions extends SendOptions {
  /**
   * How long to wait for the answer. The time begins with the call, so it includes the time for which the request waits to be sent. With
   * `0`, the call fails immediately with `RequestTimeout`. Default: the timeout that the options of the client or the server set for
   * requests, or no limit if they set none.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Whether each progress notification restarts the timeout. This also works without `onProgress`. Default: `false`. */
  readonly resetTimeoutOnProgress?: boolean | undefined
  /**
   * The longest time to wait for the answer in total. Progress does not extend this time. Default: a day if `resetTimeoutOnProgress` is
   * `true`, otherwise no limit.
   */
  readonly maxTotalTimeout?: Duration.DurationInput | undefined
  /**
   * The function that is called with each progress notification. The returned effects run one after another, and all end before the call
   * returns. When the call is interrupted, the running effect is also interrupted. When an effect dies, the defect is logged, and the call
   * continues.
   */
  readonly onProgress?: ((progress: Progress.Progress) => Effect.Effect<void>) | undefined
  /**
   * Whether this side sends `notifications/cancelled` to the peer when the caller is interrupted or the timeout has passed. Default:
   * `true`.
   */
  readonly cancelOnAbandon?: boolean | undefined
  /**
   * The reason in the `notifications/cancelled` that this side sends when the caller is interrupted. Default: "the caller was interrupted".
   */
  readonly cancelReason?: string | undefined
  /**
   * The function that is called with the id of the request before the request is sent. It is called again each time the call sends another
   * request.
   */
  readonly onId?: ((id: Message.RequestId) => void) | undefined
}

/** @category models */
export interface Outbound {
  /**
   * Sends a request and waits for its answer. When the caller is interrupted, the peer gets `notifications/cancelled`, and an answer that
   * arrives later is ignored.
   */
  readonly request: (
    method: string,
    params?: Message.Params,
    options?: RequestOptions
  ) => Effect.Effect<Message.Params, CallError>
  /** Sends a notification. Waits while the queue of the transport is full. Drops the notification when the transport is closed. */
  readonly notify: (method: string, params?: Message.Params) => Effect.Effect<void>
}

/**
 * An `Outbound` without a peer: it refuses requests and drops notifications.
 *
 * @category utils
 */
export const none: Outbound = {
  request: (method) => Effect.fail(new NoBackChannel({ method })),
  notify: () => Effect.void
}
