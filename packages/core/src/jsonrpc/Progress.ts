/**
 * The progress of a request, and the notification that carries progress. The notification names a request with a token; `Conversation`
 * passes the progress to the call of that request.
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
 * The token in the parameters of a notification; `undefined` when they have none.
 *
 * @category utils
 */
export const token = (params: Message.Params | undefined): unknown => params?.progressToken

/**
 * The progress in the parameters of a notification; `undefined` when they have none. A total or a message of a wrong type is left out.
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
 * The parameters of the notification that reports progress. Returns `undefined` when no notification must be sent: the request has no
 * token, or `progress` is not finite, or `progress` is not greater than `last`, the progress that was reported before. A total that is not
 * a finite number is left out.
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
