/**
 * What a feature of the client holds while it answers one question of the server: what was asked, and the way to say how
 * far the answer is.
 *
 * @since 0.1.0
 */
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestContextService {
  /** The id of the request, as the server wrote it. */
  readonly id: RequestId
  readonly method: string
  /** `_meta` of the request, with everything in it. */
  readonly meta: RequestMeta
  /**
   * Says how far the answer is, if the server wants to know; otherwise nothing is sent. Each `progress` must be greater
   * than the one before: others are dropped.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /** Tells the server something, until the question is answered. */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class RequestContext extends Context.Tag("@effect-mcp/client/RequestContext")<
  RequestContext,
  RequestContextService
>() {}
