/**
 * The progress of a request, and the notification that carries progress. `Conversation` passes progress to the call that
 * the token of the notification names.
 *
 * @since 0.1.0
 */
import * as Message from "./Message.js"

/** @category models */
export interface Progress {
  /** Rises with every notification, even when the total is not known. */
  readonly progress: number
  /** The value of `progress` at the end, when it is known. */
  readonly total?: number | undefined
  /** A text to show to the user. */
  readonly message?: string | undefined
}

/**
 * The name of the notification.
 *
 * @category constants
 */
export const METHOD = "notifications/progress"

/**
 * The token in the parameters of a notification, if they have one.
 *
 * @category utils
 */
export const token = (params: Message.Params | undefined): unknown => params?.progressToken

/**
 * The progress in the parameters of a notification, if they have any. A total or a message of a wrong type is left out.
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
 * The parameters of the notification that reports progress; `undefined` when it must not be sent: the request has no
 * token, or `progress` is not greater than `last`, the progress that was reported before. A total that is not a finite
 * number is left out.
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
