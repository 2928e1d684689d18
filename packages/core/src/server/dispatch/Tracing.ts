/**
 * The service that records the messages, HTTP requests and sessions of a server. `ServerTelemetry.layer` provides this service.
 * `dispatch/Build` and `dispatch/Endpoint` find the service in the context of the server. Without that layer, the server records nothing,
 * and does not load the code of `ServerTelemetry`.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpExchange } from "../http/HttpExchange.js"
import type { Middleware } from "../Middleware.js"
import type { Server } from "../runtime/Server.js"

export interface TracingService {
  /** Adds middleware that records each message around the middleware of the server. */
  readonly around: (middleware: Middleware.Any | undefined) => Middleware.Any
  /** Gives a function that makes a span for each POST of an endpoint. `hasUsers` tells whether the server has an authenticator. */
  readonly exchanges: (hasUsers: boolean) => Effect.Effect<(exchange: HttpExchange) => HttpExchange>
  /**
   * Records the beginning of a session. Run this effect when a session begins. The effect gives a second effect. Run the second effect when
   * the session ends, to record how long the session has lasted.
   */
  readonly session: Effect.Effect<Effect.Effect<void>>
}

/** A server, with the service that records its messages and sessions; `undefined` where nothing is recorded. */
export interface TracedServer extends Server {
  readonly tracing: TracingService | undefined
}

export class Tracing extends Context.Tag("@effect-mcp/core/server/Tracing")<Tracing, TracingService>() {}
