/**
 * What records the messages, HTTP requests and sessions of a server, as `dispatch/Build` and `dispatch/Endpoint` find it in the context of
 * the server: `ServerTelemetry.layer` provides it. Without that layer nothing is recorded, and none of its code is loaded.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpExchange } from "../http/HttpExchange.js"
import type { Middleware } from "../Middleware.js"
import type { Server } from "../runtime/Server.js"

export interface TracingService {
  /** The middleware of the server, with what records each message around it. */
  readonly around: (middleware: Middleware.Any | undefined) => Middleware.Any
  /** What makes a span of each POST of an endpoint. `hasUsers` tells whether the server has an authenticator. */
  readonly exchanges: (hasUsers: boolean) => Effect.Effect<(exchange: HttpExchange) => HttpExchange>
  /** A session has begun. Gives what records how long it has lasted. */
  readonly session: Effect.Effect<Effect.Effect<void>>
}

/** A server, and what records it; `undefined` where nothing does. */
export interface TracedServer extends Server {
  readonly tracing: TracingService | undefined
}

export class Tracing extends Context.Tag("@effect-mcp/core/server/Tracing")<Tracing, TracingService>() {}
