/**
 * What a feature holds while it answers one question of a legacy server: the object behind the client's `RequestContext`.
 * It speaks on the question's own channel, and knows nothing of features.
 *
 * @since 0.1.0
 */
import type { Request, RequestId } from "@effect-mcp/jsonrpc/Message"
import * as Progress from "@effect-mcp/jsonrpc/Progress"
import type { IncomingRequest } from "@effect-mcp/jsonrpc/Side"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import * as Effect from "effect/Effect"
import type { RequestContextService } from "../RequestContext.js"

/**
 * @since 0.1.0
 * @category models
 */
export class LegacyRequestContext implements RequestContextService {
  private last = -Infinity

  constructor(private readonly asked: Request, private readonly exchange: IncomingRequest) {}

  get id(): RequestId {
    return this.asked.id
  }

  get method(): string {
    return this.asked.method
  }

  get meta(): RequestMeta {
    return (this.asked.params?._meta ?? {}) as RequestMeta
  }

  // Functions of getters, so that who takes one out of the context can still call it.
  get progress(): RequestContextService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const params = Progress.toParams(this.meta.progressToken, { progress, ...options }, this.last)
        if (params === undefined) return Effect.void
        this.last = progress
        return this.exchange.notify(Progress.METHOD, params)
      })
  }

  get notify(): RequestContextService["notify"] {
    return (method, params) => this.exchange.notify(method, params)
  }
}
