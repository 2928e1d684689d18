/**
 * The client's `RequestContext` in the legacy era: the facts of one request of the server, and notifications that belong
 * to it. `InboundHandlers` makes one for each request.
 *
 * A class with getters, because most handlers read none of it. Its one mutable field is the last progress that was sent.
 */
import type { Params, Request, RequestId } from "@effect-mcp/jsonrpc/Message"
import * as Progress from "@effect-mcp/jsonrpc/Progress"
import type { IncomingRequest } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type { ProgressParams } from "@effect-mcp/protocol/Progress"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RequestContextService } from "../RequestContext.js"

export class LegacyRequestContext implements RequestContextService {
  private lastProgress = -Infinity

  constructor(
    private readonly request: Request,
    private readonly incoming: Pick<IncomingRequest, "cancelReason" | "notify">,
    private readonly version: LegacyVersion
  ) {}

  get id(): RequestId {
    return this.request.id
  }

  get method(): string {
    return this.request.method
  }

  get meta(): RequestMeta {
    return (this.request.params?._meta ?? {}) as RequestMeta
  }

  get cancelReason(): RequestContextService["cancelReason"] {
    return Effect.sync(() => Option.fromNullable(this.incoming.cancelReason))
  }

  // Functions of getters, so that a function that was taken out of the context can still be called.
  get progress(): RequestContextService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const params = Progress.toParams(this.meta.progressToken, { progress, ...options }, this.lastProgress)
        if (params === undefined) return Effect.void
        this.lastProgress = progress
        const known = Methods.progress.narrowParams(this.version)(params as unknown as ProgressParams)
        return this.incoming.notify(Progress.METHOD, known as Params)
      })
  }

  get notify(): RequestContextService["notify"] {
    return (method, params) => this.incoming.notify(method, params)
  }
}
