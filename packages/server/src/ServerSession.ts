/**
 * `RequestContext` and the ways to ask the client's side while a request is served. Tools, prompts and resource reads hold
 * it; asking from anywhere else does not compile.
 *
 * @since 0.1.0
 */
import type { CallError, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RequestContextService } from "./RequestContext.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface ServerSessionService extends RequestContextService {
  /**
   * Sends a request to the client on the request's own channel and waits. It fails with `NoBackChannel` where the client
   * cannot be asked; interrupting the handler tells the client to stop.
   */
  readonly request: (
    method: string,
    params?: JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonObject, CallError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ServerSession extends Context.Tag("@effect-mcp/server/ServerSession")<
  ServerSession,
  ServerSessionService
>() {}
