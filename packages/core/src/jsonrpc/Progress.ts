/**
 * The progress of a request, and the notification that reports progress. The notification names the request with a token. `Conversation`
 * passes the progress to the call that sent this request.
 *
 * @since 0.1.0
 */
import * as Message from "./Message.js"

/** @category models */
export interface Progress {
  /** The progress so far. It rises with every notification, also when the total is not known. */
  readonly progress: number
  /** The value that `progress` will have at the end; `undefined` when this is not known. */
  readonly total?: number | undefined
  /** A text to show to the user. */
  readonly message?: string | undefined
}

/**
 * The method of the notification.
 *
 * @category constants
 */
export const METHOD = "notifications/progress"

/**
 * Returns the token in the parameters of a notification; `undefined` when the parameters have no token.
 *
 * @category utils
 */
export const token = (params: Message.Params | undefined): unknown => params?.progressToken

/**
 * Reads the progress from the parameters of a notification. Returns `undefined` when the parameters have no progress. Leaves out a total or
 * a message of a wrong type.
 *
 * @category constructors
 */
export const fromParams = (params: Message.Params | undefined): Progress | undefined => {
  if (typeof params?.progress !== "number") return undefined
  return {
    progress: params.progress,
    ...(typeof params.total === "number" ? { total: params.total } : undefined),
    ...(typeof params.message === "string" ? { message: params.message } : undefined)
  }
}

/**
 * Makes the parameters of the notification that reports progress. Returns `undefined` when no notification may be sent: the request has no
 * token, `progress` is not a finite number, or `progress` is not greater than `last`. `last` is the progress that was reported before.
 * Leaves out a total that is not a finite number.
 *
 * @category utils
 */
export const toParams = (
  token: Message.RequestId | undefined,
  { message, progress, total }: Progress,
  last: number
): Message.Params | undefined =>
  // MUST increase with each notification (2025-11-25 basic/utilities/progress#progress-flow)
  !Message.isRequestId(token) || !(progress > last) || progress === Infinity ? undefined : {
    progressToken: token,
    progress,
    ...(Number.isFinite(total) ? { total } : undefined),
    ...(message === undefined ? undefined : { message })
  }
