/**
 * Decides, for `Listen`, what follows when the request of a subscription has ended: open it again, stop, or fail. If the server ends each
 * request soon, the wait before the next request grows. `Filter` says what the server has acknowledged. The functions here are pure.
 *
 * - `afterEnd`: what follows, after how long a wait, and which error is reported?
 */
import { ConnectionClosed, TransportError } from "../../jsonrpc/LocalError.js"
import type { CallError } from "../../jsonrpc/Outbound.js"
import type { SubscriptionFilter } from "../../protocol/modern/Subscriptions.js"
import * as Filter from "./Filter.js"

/** A request of a subscription that has ended. */
export interface Ended {
  /** Whether the server has acknowledged the first request of the subscription. */
  readonly wasOpen: boolean
  /** What the server has acknowledged for this request; `undefined` when it has acknowledged nothing. */
  readonly acknowledged: SubscriptionFilter | undefined
  /** The error of this request; `undefined` when the server has sent its result. */
  readonly error: CallError | undefined
  /** When this request was sent, in milliseconds since 1970. */
  readonly began: number
  /**
   * How many requests in a row did not stay open. A request did not stay open if the server has not acknowledged it, or has ended it before
   * it was open for longer than the wait that would follow.
   */
  readonly failures: number
}

export type Next =
  /** The subscription stays closed. */
  | { readonly _tag: "Stop" }
  /** The server refuses the subscription, so everyone who waits for it fails with the error. */
  | { readonly _tag: "Refuse"; readonly error: CallError }
  /** The request is sent again after the wait. If the server has not acknowledged the request that has ended, its error is reported. */
  | { readonly _tag: "Reopen"; readonly after: Wait; readonly report: CallError | undefined }

export interface Wait {
  readonly seconds: number
  readonly failures: number
}

/**
 * The longest wait before a subscription is opened again, in seconds. The first wait is one second. Each further wait is twice as long as
 * the wait before.
 */
const MAX_WAIT_SECONDS = 30

export const afterEnd = (ended: Ended, now: number): Next => {
  const { acknowledged, error = notAcknowledged, wasOpen } = ended
  if (!wasOpen) return { _tag: "Refuse", error }
  if (error instanceof ConnectionClosed) return { _tag: "Stop" }
  if (acknowledged !== undefined && Filter.isEmpty(acknowledged)) return { _tag: "Stop" }
  return { _tag: "Reopen", after: waitAfter(ended, now), report: acknowledged === undefined ? error : undefined }
}

const waitAfter = ({ acknowledged, began, failures }: Ended, now: number): Wait => {
  const seconds = Math.min(2 ** failures, MAX_WAIT_SECONDS)
  const isLongLived = acknowledged !== undefined && now - began > 1000 * seconds
  return isLongLived ? { seconds: 1, failures: 0 } : { seconds, failures: failures + 1 }
}

const notAcknowledged = new TransportError({
  reason: "Decode",
  message: "The server ended the subscription before it acknowledged the subscription"
})
