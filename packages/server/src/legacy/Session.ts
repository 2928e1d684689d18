/**
 * What a handler holds while it serves one legacy request: the facts of its connection, and the request's own channel, on
 * which the client is told and asked. The one object behind `RequestContext` and `ServerSession`.
 *
 * @since 0.1.0
 */
import type { Exchange } from "@effect-mcp/jsonrpc/InFlight"
import type { Request, RequestId } from "@effect-mcp/jsonrpc/Message"
import type { CallError, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import * as Logging from "@effect-mcp/protocol/Logging"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { ServerSessionService } from "../ServerSession.js"
import type { Connection } from "./Connection.js"

/**
 * @since 0.1.0
 * @category models
 */
export class Session implements ServerSessionService {
  private last = -Infinity

  constructor(
    private readonly connection: Connection,
    private readonly asked: Request,
    private readonly exchange: Exchange,
    private readonly logs: boolean
  ) {}

  get id(): RequestId {
    return this.asked.id
  }

  get method(): string {
    return this.asked.method
  }

  get version(): LegacyVersion {
    return this.connection.version
  }

  get clientInfo(): Implementation | undefined {
    return this.connection.clientInfo
  }

  get clientCapabilities(): ClientCapabilities {
    return this.connection.clientCapabilities
  }

  get meta(): RequestMeta {
    return (this.asked.params?._meta ?? {}) as RequestMeta
  }

  progress(
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { progressToken } = this.meta
      // MUST increase with each notification (2025-11-25 basic/utilities/progress#progress-flow)
      if (progressToken === undefined || !(progress > this.last) || progress === Infinity) return Effect.void
      this.last = progress
      const { message, total } = options ?? {}
      return this.tell(Methods.progress, {
        progressToken,
        progress,
        ...(Number.isFinite(total) ? { total } : undefined),
        ...(message === undefined ? undefined : { message })
      })
    })
  }

  log(level: Logging.LoggingLevel, data: unknown, logger?: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const threshold = this.connection.level
      if (!this.logs || (threshold !== undefined && !Logging.isAtLeast(level, threshold))) return Effect.void
      // There is no message without data, and JSON has no `undefined`.
      const told = { level, data: data === undefined ? null : data }
      return this.tell(Methods.message, logger === undefined ? told : { ...told, logger })
    })
  }

  notify(method: string, params?: JsonObject): Effect.Effect<void> {
    return this.exchange.notify(method, params)
  }

  request(method: string, params?: JsonObject, options?: RequestOptions): Effect.Effect<JsonObject, CallError> {
    return this.exchange.request(method, params, options)
  }

  private tell<P extends object>(method: Method.Notification<string, P>, params: P): Effect.Effect<void> {
    return this.exchange.notify(
      method.name,
      Narrow.compile(method.params, this.connection.version)(params) as JsonObject
    )
  }
}
