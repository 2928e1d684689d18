/**
 * The functions with which one side sends to the other side: `request`, which waits for the answer, and `notify`. `Conversation` implements
 * `Outbound`. Clients and servers send with an `Outbound` and know no transport. A channel that cannot carry requests refuses each request
 * itself (`none`), so callers need not ask for this.
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
   * How long to wait for the answer, counted from the moment at which the request is handed to the transport. `0` fails at once with
   * `RequestTimeout`. Default: the `timeout` of the conversation, and no limit if it has none.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Whether each progress notification restarts the timeout, also without `onProgress`. Default: `false`. */
  readonly resetTimeoutOnProgress?: boolean | undefined
  /**
   * The longest wait in total, which progress does not extend. Default: a day if `resetTimeoutOnProgress` is `true`, otherwise no limit.
   */
  readonly maxTotalTimeout?: Duration.DurationInput | undefined
  /**
   * Called with each progress notification. Its effects run one after another, and all end before the call returns. When the call is
   * interrupted, the running effect is interrupted, too. When an effect dies, the defect is logged, and only that notification is lost.
   */
  readonly onProgress?: ((progress: Progress.Progress) => Effect.Effect<void>) | undefined
  /** Whether the peer is told to cancel the request when the caller is interrupted or the time is over. Default: `true`. */
  readonly cancelOnAbandon?: boolean | undefined
  /** The reason that the peer is told when the caller is interrupted. Default: "the caller was interrupted". */
  readonly cancelReason?: string | undefined
  /** Called with the id of the request before the request is sent, and again each time that the call is sent again. */
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
  /** Sends a notification. Suspends while the transport is full. Drops the notification when the transport is closed. */
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
