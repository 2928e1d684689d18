/**
 * What every handler holds while it serves one request: who asks, and the ways to tell them something meanwhile. The same
 * service in both eras; a handler never learns which.
 *
 * To ask the other side for something, see `ServerSession`.
 *
 * @since 0.1.0
 */
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Principal } from "./Principal.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestContextService {
  /** The id of the request, as its sender wrote it; a notification has none. */
  readonly id: RequestId | undefined
  readonly method: string
  /** The revision in which the request was made. */
  readonly version: Version
  /** Who the client says it is; for people to read, nothing may depend on it. */
  readonly clientInfo: Implementation | undefined
  /** What the client says it can do. */
  readonly clientCapabilities: ClientCapabilities
  /** Whether the client says that it can do all of this. */
  readonly supports: (required: ClientCapabilities) => boolean
  /** The id of the session over HTTP; none on other transports, and where the server keeps no sessions. */
  readonly sessionId: string | undefined
  /** The headers of the HTTP request, their names in lower case; none on other transports. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Who asks, where the server lets nobody in without finding out. */
  readonly principal: Principal | undefined
  /** `_meta` of the request, with everything in it. */
  readonly meta: RequestMeta
  /**
   * Says how far the request is, if its sender wants to know; otherwise nothing is sent. Each `progress` must be greater
   * than the one before: others are dropped. Suspends while the client reads slower than this is said.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /**
   * Tells the client of the work, if it wants to hear of this level. `data` is any JSON; it must hold no secret.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
   */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Effect.Effect<void>
  /** Sends a notification on the request's own channel; dropped once the request is answered. */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
  /** Sends a notification on the channel beside all requests; dropped when nobody is left to hear it. */
  readonly notifyStandalone: (method: string, params?: JsonObject) => Effect.Effect<void>
  /** Tells the client that the person is done with a page that they were asked to open; at any time, also afterwards. */
  readonly elicitationComplete: (elicitationId: string) => Effect.Effect<void>
  /**
   * Ends the HTTP stream that the answer would travel on, while the handler goes on: the client comes back for the rest.
   * Does nothing on other transports, and where the client could not come back.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  readonly closeStream: Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class RequestContext extends Context.Tag("@effect-mcp/server/RequestContext")<
  RequestContext,
  RequestContextService
>() {}
