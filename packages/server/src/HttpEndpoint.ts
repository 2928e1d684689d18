/**
 * The HTTP endpoint of a server as an `HttpApp` of `@effect/platform`: for applications that have an HTTP server of it. On
 * Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster. For a function from `Request` to `Response`,
 * `WebHandler` costs less than `HttpApp.toWebHandler` of this app, and notices each client that disconnects.
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
import * as Endpoint from "./dispatch/Endpoint.js"
import type { Dispatcher } from "./Dispatcher.js"
import { AppExchange } from "./http/AppExchange.js"
import type { HttpOptions } from "./HttpOptions.js"

/**
 * An app that serves until the scope closes. It serves any path, unless `path` names one.
 *
 * Only loopback hosts and origins are allowed, whatever address the server listens on, unless `allowedHosts` and
 * `allowedOrigins` are given. Mount the app without request logger and tracer: they cost more than the app itself. Close
 * the app before its HTTP server, which waits for open streams; a layer built on top of the server's layer is closed first.
 * On Node, make the server with `PlatformHttpServer` of `@effect-mcp/node`: that of `@effect/platform-node` waits for every
 * connection when it closes, without a limit of time.
 *
 * @example
 * ```ts
 * import * as HttpRouter from "@effect/platform/HttpRouter"
 * import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
 * import { Effect } from "effect"
 *
 * // Beside other routes of an application.
 * export const router = Effect.map(HttpEndpoint.make({ allowedHosts: ["mcp.example.com"] }), (app) =>
 *   HttpRouter.empty.pipe(HttpRouter.all("/mcp", app)))
 * ```
 */
export const make = <R = never>(
  options?: HttpOptions<R>
): Effect.Effect<HttpApp.Default, never, Dispatcher | Scope.Scope | R> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.make(options)
    const reading = new Set<AppExchange>()
    yield* Effect.addFinalizer(() => Effect.sync(() => reading.forEach((exchange) => exchange.disconnect())))
    return Effect.withFiberRuntime((fiber) => {
      const request = Context.unsafeGet(fiber.currentContext, HttpServerRequest)
      const exchange = new AppExchange(request, () => fiber.unsafeInterruptAsFork(fiber.id()), reading)
      return exchange.answer(() => endpoint.handle(exchange))
    })
  })

/**
 * Serves the endpoint, and nothing else, on the platform's HTTP server, at "/mcp" unless `path` names another path.
 * Provide an `EventStore` to let clients resume streams.
 */
export const serve = <R = never>(
  options?: HttpOptions<R>
): Layer.Layer<never, never, HttpServer.HttpServer | Dispatcher | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(make({ path: "/mcp", ...options }), (app) => HttpServer.serveEffect(app)))
