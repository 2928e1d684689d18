/**
 * The service that records the messages, HTTP requests and sessions of a server. `dispatch/Build` and `dispatch/Endpoint` find it in the
 * context of the server, and `ServerTelemetry.layer` provides it. Without that layer nothing is recorded, and none of the code for it is
 * loaded.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpExchange } from "../http/HttpExchange.js"
import type { Middleware } from "../Middleware.js"
import type { Server } from "../runtime/Server.js"

export interface TracingService {
  /** Gives the middleware of the server with the recording of each message around it. */
  readonly around: (middleware: Middleware.Any | undefined) => Middleware.Any
  /** Gives a function that makes a span for each POST of an endpoint. `hasUsers` tells whether the server has an authenticator. */
  readonly exchanges: (hasUsers: boolean) => Effect.Effect<(exchange: HttpExchange) => HttpExchange>
  /** Run it when a session begins. It gives the effect that records how long the session has lasted. */
  readonly session: Effect.Effect<Effect.Effect<void>>
}

/** A server, and the service that records what it does; `undefined` where nothing is recorded. */
export interface TracedServer extends Server {
  readonly tracing: TracingService | undefined
}

export class Tracing extends Context.Tag("@effect-mcp/core/server/Tracing")<Tracing, TracingService>() {}
