/**
 * The endpoint as an `HttpApp` of `@effect/platform`, for applications that have an HTTP server already, and for all that
 * takes a web handler. `HttpServer` in `@effect-mcp/node` is the shell that costs less.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServer from "@effect/platform/HttpServer"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Dispatcher } from "./Dispatcher.js"
import { AppExchange } from "./http/AppExchange.js"
import * as Endpoint from "./http/Endpoint.js"
import type { HttpOptions } from "./HttpOptions.js"

/**
 * An app that serves until the scope closes. Mounted below a router it takes any path, unless `path` names one.
 *
 * Only loopback hosts and origins are let in, whatever address the server listens on, unless `allowedHosts` and
 * `allowedOrigins` say otherwise. The app should go without request logger and tracer, which cost more than it does.
 * Closing the server waits for its streams, so this has to be closed before: where it is built on top of the server, it is.
 *
 * @example
 * ```ts
 * import * as HttpApp from "@effect/platform/HttpApp"
 * import * as App from "@effect-mcp/server/HttpEndpoint"
 * import { Effect } from "effect"
 *
 * // For Workers, Deno, Bun, Next: for all that takes a `Request` and gives a `Response`.
 * export const handler = Effect.map(App.make({ allowedHosts: ["mcp.example.com"] }), (app) => HttpApp.toWebHandler(app))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(
  options?: HttpOptions<R>
): Effect.Effect<HttpApp.Default, never, Dispatcher | Scope.Scope | R> =>
  Effect.map(Endpoint.make(options), (endpoint) =>
    Effect.withFiberRuntime((fiber) => {
      const request = Context.unsafeGet(fiber.currentContext, HttpServerRequest)
      const exchange = new AppExchange(request, () => fiber.unsafeInterruptAsFork(fiber.id()))
      return exchange.answered(() => endpoint.handle(exchange))
    }))

/**
 * Serves the app on the platform's HTTP server, at "/mcp" unless `path` says otherwise, with nothing beside it. Where
 * clients should be able to resume streams, it is provided with an `EventStore`.
 *
 * @since 0.1.0
 * @category layers
 */
export const serve = <R = never>(
  options?: HttpOptions<R>
): Layer.Layer<never, never, HttpServer.HttpServer | Dispatcher | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(make({ path: "/mcp", ...options }), (app) => HttpServer.serveEffect(app)))
