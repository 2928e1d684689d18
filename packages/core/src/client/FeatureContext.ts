/**
 * The facts about one request of the server, for the feature of the client that answers the request. The feature can also report progress.
 * `legacy/InboundHandlers` and `modern/Connect` provide this service to every handler of a request.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { RequestId } from "../jsonrpc/Message.js"
import type { JsonObject } from "../protocol/Json.js"
import type { RequestMeta } from "../protocol/Meta.js"

/** @category models */
export interface FeatureContextService {
  /** The id of the request, as the server sent it. With revision 2026-07-28, this is the key of the input request. */
  readonly id: RequestId
  readonly method: string
  /**
   * The id of the client's call on whose stream the server sends the request. The function `onId` of that call got the same id. `undefined`
   * when the server does not say which call needs the request: over a pipe with revision 2025-11-25 or earlier, outside of calls, and in a
   * task.
   */
  readonly call: RequestId | undefined
  /** The `_meta` of the request, with all members. */
  readonly meta: RequestMeta
  /**
   * The reason that the server gave when it cancelled the request. `None` when the request is not cancelled, or when the server gave no
   * reason. Read the reason in a finalizer of the handler, such as a finalizer of `Effect.onInterrupt`. Always `None` with revision
   * 2026-07-28.
   */
  readonly cancelReason: Effect.Effect<Option.Option<string>>
  /**
   * Reports progress if the server has requested it; otherwise nothing is sent. A `progress` that is not greater than the previous
   * `progress` is dropped. With revision 2026-07-28, nothing is sent.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /**
   * Sends a notification to the server while the request has no answer. After the answer, the notification is dropped. With revision
   * 2026-07-28, nothing is sent.
   */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
}

/** @category tags */
export class FeatureContext extends Context.Tag("@effect-mcp/core/FeatureContext")<
  FeatureContext,
  FeatureContextService
>() {}
