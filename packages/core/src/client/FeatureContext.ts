/**
 * What a feature of the client has while it answers one request of the server: the facts of the request, and a way to report progress.
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
  /** The id of the request, as the server wrote it. */
  readonly id: RequestId
  readonly method: string
  /**
   * The id, as `onId` gives it, of the client's call on whose stream the server asks; `undefined` where the server does not say which
   * call it serves: over a pipe up to 2025-11-25, outside of calls, and in a task.
   */
  readonly call: RequestId | undefined
  /** `_meta` of the request, with all its members. */
  readonly meta: RequestMeta
  /**
   * The reason that the server gave when it cancelled the request; `None` before, and when the server gave no reason. For finalizers of the
   * handler, such as a finalizer of `Effect.onInterrupt`.
   */
  readonly cancelReason: Effect.Effect<Option.Option<string>>
  /**
   * Reports progress, if the server has requested it; otherwise nothing is sent. Each `progress` must be greater than the `progress`
   * before; otherwise it is dropped.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /** Sends a notification to the server, as long as the request is not answered. */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
}

/** @category tags */
export class FeatureContext extends Context.Tag("@effect-mcp/core/FeatureContext")<
  FeatureContext,
  FeatureContextService
>() {}
