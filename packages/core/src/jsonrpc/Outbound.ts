/**
 * How one side sends to the other: a request, whose answer the side waits for, or a notification. `Conversation` implements `Outbound`;
 * clients and servers send with it and know no transport. A channel that cannot carry requests refuses them itself (`none`), so callers
 * need no flag.
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
 * Why a call failed: the error that the peer answered, or a failure on this side.
 *
 * @category errors
 */
export type CallError = JsonRpcError | LocalError

/** @category models */
export interface RequestOptions extends SendOptions {
  /**
   * How long to wait, from the moment the request is handed to the transport. `0` fails at once with `RequestTimeout`.
   * Default: the timeout of the conversation; without one, the wait has no limit.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Whether each progress notification restarts the timeout, also without `onProgress`. Default: false. */
  readonly resetTimeoutOnProgress?: boolean | undefined
  /** The longest wait in total, whatever progress arrives. Default: a day with `resetTimeoutOnProgress`, else no limit. */
  readonly maxTotalTimeout?: Duration.DurationInput | undefined
  /**
   * Runs for each progress notification, one after another, all before the call returns. The callback is interrupted with
   * the call. If the callback dies, the defect is logged, and only that notification is lost.
   */
  readonly onProgress?: ((progress: Progress.Progress) => Effect.Effect<void>) | undefined
  /** Whether to cancel the request at the peer when the caller is interrupted or the time is over. Default: true. */
  readonly cancelOnAbandon?: boolean | undefined
  /** The reason for the peer when the caller is interrupted. Default: "the caller was interrupted". */
  readonly cancelReason?: string | undefined
  /** Runs with the id of the request, before the request is sent; once more for each time that a call is sent again. */
  readonly onId?: ((id: Message.RequestId) => void) | undefined
}

/** @category models */
export interface Outbound {
  /**
   * Sends a request and waits for its answer. Interrupting the caller sends `notifications/cancelled`; an answer that
   * arrives afterwards is ignored.
   */
  readonly request: (
    method: string,
    params?: Message.Params,
    options?: RequestOptions
  ) => Effect.Effect<Message.Params, CallError>
  /** Sends a notification. Suspends while the transport is full; the notification is dropped once it is closed. */
  readonly notify: (method: string, params?: Message.Params) => Effect.Effect<void>
}

/**
 * A channel without a peer: it refuses requests and drops notifications.
 *
 * @category utils
 */
export const none: Outbound = {
  request: (method) => Effect.fail(new NoBackChannel({ method })),
  notify: () => Effect.void
}
