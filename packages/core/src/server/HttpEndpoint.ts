/**
 * The HTTP endpoint of a server as an `HttpApp` of `@effect/platform`, for applications that have an HTTP server of `@effect/platform`.
 * `http/AppExchange` translates requests and answers. On Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster. For a
 * function from `Request` to `Response`, use `WebHandler`. Do not use `HttpApp.toWebHandler` with this app: `WebHandler` is faster, and
 * notices each client that disconnects.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServer from "@effect/platform/HttpServer"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as RcMap from "../kit/RcMap.js"
import * as Endpoint from "./dispatch/Endpoint.js"
import type { Dispatcher } from "./Dispatcher.js"
import { AppExchange } from "./http/AppExchange.js"
import * as Guard from "./http/Guard.js"
import * as ListensOn from "./http/ListensOn.js"
import * as ServerAddress from "./http/ServerAddress.js"
import type { HostedOptions, HttpOptions } from "./WebHandler.js"

/**
 * Makes an app that serves until the scope closes. Without the option `path`, the app serves any path.
 *
 * Without `allowedHosts`, the allowed hosts depend on the address of the HTTP server. For an address that is not loopback, the app allows
 * any host. For a loopback address, or an unknown address (for example behind a web handler), the app allows only the host names of this
 * machine. Without `allowedOrigins`, the app allows only pages of this machine. With the option `user`, the app requires the user as a
 * service, which middleware of the application provides. The app passes this user to the authenticator of the server. With the option
 * `services`, the app requires further services, and passes them to the handlers.
 *
 * Middleware of the application can set values for the fiber of a POST, for example annotations of logs. The handlers of this POST's
 * messages run with these values. Session layers, tasks, and messages that another node has passed on run without these values.
 *
 * Do not put a request logger or a tracer of `@effect/platform` around the app, because they cost more than the app itself. Close the app
 * before its HTTP server, because the HTTP server waits for open streams. In a layer that requires the HTTP server, the app closes first.
 * With `drainFirst`, the HTTP server still passes requests to the app during `health.grace` and `drainTimeout`. On Node, make the HTTP
 * server with `PlatformHttpServer` of `@effect-mcp/node`: the HTTP server of `@effect/platform-node` waits for every connection without a
 * time limit when it closes.
 *
 * @example
 * ```ts
 * import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
 * import * as HttpRouter from "@effect/platform/HttpRouter"
 * import { Effect } from "effect"
 *
 * // Beside other routes of an application.
 * export const router = Effect.map(HttpEndpoint.make({ allowedHosts: ["mcp.example.com"] }), (app) =>
 *   HttpRouter.empty.pipe(HttpRouter.all("/mcp", app)))
 * ```
 * @category constructors
 */
export const make = <User = never, Services extends ReadonlyArray<Context.Tag<any, any>> = readonly []>(
  options: HostedOptions<User> & {
    /**
     * The services that HTTP middleware of the application provides with each request. The handlers of the request's messages get a service
     * with `HttpServices.get`. Default: none.
     */
    readonly services?: Services | undefined
  } = {}
): Effect.Effect<
  HttpApp.Default<never, User | Context.Tag.Identifier<Services[number]>>,
  never,
  Dispatcher | Scope.Scope
> =>
  Effect.gen(function*() {
    const { services = [], user } = options
    const named = user === undefined ? services : [...services, user]
    const before = yield* EffectInternals.currentServices()
    const endpoint = yield* Endpoint.make(options, serversIsLocal(yield* Effect.context<never>()) === false)
    const { drain } = endpoint
    const reading = new Set<AppExchange>()
    const disconnect = Effect.sync(() => reading.forEach((exchange) => exchange.disconnect()))
    yield* Effect.addFinalizer(() => Effect.zipRight(drain, disconnect))
    const draining = Option.getOrUndefined(yield* Effect.serviceOption(Draining))
    yield* Effect.acquireRelease(
      Effect.sync(() => draining?.add(drain)),
      () => Effect.sync(() => draining?.delete(drain))
    )
    return Effect.withFiberRuntime((fiber) => {
      const context = EffectInternals.contextOfFiber(fiber)
      const request = Context.get(context as Context.Context<HttpServerRequest>, HttpServerRequest)
      const given = named.length === 0 ? undefined : Context.pick(...named)(context as Context.Context<any>)
      const exchange = new AppExchange(
        request,
        () => EffectInternals.interrupt(fiber),
        reading,
        given as Context.Context<never> | undefined,
        () => ListensOn.isLocal(request.source) ?? serversIsLocal(context),
        EffectInternals.changedValues(before, fiber),
        EffectInternals.entries(context).get(Tracer.ParentSpan.key) as Tracer.AnySpan | undefined
      )
      return exchange.answer(() => endpoint.handle(exchange))
    })
  })

/** @category models */
export interface ForEachOptions<E = never, R1 = never, R2 = never> extends HttpOptions {
  /**
   * Finds the name of the user who has sent a request. The app passes the request to the server of this user. This effect must authenticate
   * the user, because the app builds a server for each name. When the effect fails, the app fails with the same failure, and does not serve
   * the request. Use a failure that `@effect/platform` sends as the response, for example an `HttpServerResponse` with status 401.
   */
  readonly user: Effect.Effect<string, E, R1>
  /**
   * Gives the server of a user. The server needs its own `authenticator`, if its handlers use the user. The app builds the server at the
   * first request of the user. The server gets the services of the effect that makes the app, and no services of the request.
   */
  readonly server: (user: string) => Layer.Layer<Dispatcher, never, R2>
  /**
   * How long a server stays open without a request and without an open stream. After this time the server closes, and its sessions and its
   * running tasks end. Default: 10 minutes.
   */
  readonly idle?: Duration.DurationInput | undefined
  /** How many servers may be open at the same time. The app answers requests of further users with status 503. Default: 1,000. */
  readonly maxServers?: number | undefined
}

/**
 * Makes an app with a separate server for each user. No user can reach the sessions, features, tasks and connections of another user's
 * server. When users may share one server, use `make` and a server with an `authenticator`, which costs less.
 *
 * When the scope closes, all servers close at the same time. The other options are the options of `make`, and apply to each server.
 *
 * @example
 * ```ts
 * import * as Authenticator from "@effect-mcp/core/Authenticator"
 * import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
 * import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
 * import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
 * import { Context, Effect } from "effect"
 *
 * class User extends Context.Tag("User")<User, string>() {}
 *
 * const users = new Map<string | undefined, string>([["Bearer ada-token", "ada"]])
 *
 * const authenticator = Authenticator.make(User, {
 *   id: (name) => name,
 *   http: ({ headers }) =>
 *     Effect.mapError(Effect.fromNullable(users.get(headers.authorization)), () => HttpRefusal.unauthorized("Bearer"))
 * })
 *
 * const serverOf = (name: string) =>
 *   McpServer.layer(
 *     { name: `notes of ${name}`, version: "1.0.0" },
 *     McpServer.tool(Tool.make("whoami"), () => User),
 *     { authenticator }
 *   )
 *
 * export const app = HttpEndpoint.forEach({
 *   user: Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
 *     Effect.mapError(Effect.fromNullable(users.get(headers.authorization)), () =>
 *       HttpServerResponse.empty({ status: 401, headers: { "www-authenticate": "Bearer" } }))),
 *   server: serverOf
 * })
 * ```
 * @category constructors
 */
export const forEach = <E = never, R1 = never, R2 = never>(
  { idle = "10 minutes", maxServers = 1000, server, user, ...options }: ForEachOptions<E, R1, R2>
): Effect.Effect<HttpApp.Default<E, R1 | Scope.Scope>, never, R2 | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R2>()
    const servers = yield* RcMap.make<string, HttpApp.Default, never>({
      idle: () => idle,
      open: (name) =>
        Effect.flatMap(
          Layer.build(Layer.provide(server(name), Layer.succeedContext(context))),
          (built) => Effect.provide(make(options), built)
        )
    })
    return Effect.flatMap(user, (name) =>
      servers.has(name) || servers.size() < maxServers ? Effect.flatten(servers.get(name)) : tooMany)
  })

const tooMany = Effect.succeed(HttpServerResponse.empty({ status: 503, headers: { "retry-after": "60" } }))

/**
 * Whether the HTTP server listens on a loopback address; `undefined` when the address is unknown. `ListensOn.isLocal` reads the address of
 * a request; on some platforms, such as Bun, only the HTTP server has the address.
 */
const serversIsLocal = (context: Context.Context<never>): boolean | undefined => {
  const address = Option.getOrUndefined(Context.getOption(context, HttpServer.HttpServer))?.address
  return address === undefined ? undefined : Guard.isLoopback(ServerAddress.hostname(address))
}

/**
 * The effects `drain` of the endpoints in a layer, one for each endpoint. When `drain` has ended, the endpoint no longer needs its routes.
 */
class Draining
  extends Context.Tag("@effect-mcp/core/server/HttpEndpoint/Draining")<Draining, Set<Effect.Effect<void>>>()
{}

/**
 * Delays the release of a layer that serves an app of `make`, such as `HttpApiBuilder.serve()` with its routes. First the endpoint waits
 * for `health.grace` and `drainTimeout`. During these times the HTTP server keeps all routes. Then Effect releases the layer. Without this
 * function the HTTP server first loses its routes, and answers with status 503 during these times.
 *
 * @example
 * ```ts
 * import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
 * import * as HttpRouter from "@effect/platform/HttpRouter"
 * import * as HttpServer from "@effect/platform/HttpServer"
 * import { Effect, Layer } from "effect"
 *
 * const router = Effect.map(HttpEndpoint.make({ health: { grace: "10 seconds" } }), (app) =>
 *   HttpRouter.empty.pipe(HttpRouter.all("/mcp", app), HttpRouter.all("/readyz", app)))
 *
 * export const Live = HttpEndpoint.drainFirst(Layer.scopedDiscard(Effect.flatMap(router, HttpServer.serveEffect())))
 * ```
 * @category combinators
 */
export const drainFirst = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.suspend(() => {
    const all = new Set<Effect.Effect<void>>()
    const drain = Effect.suspend(() => Effect.all([...all], { concurrency: "unbounded", discard: true }))
    return Layer.scopedDiscard(Effect.addFinalizer(() => drain)).pipe(
      Layer.provideMerge(layer),
      Layer.provide(Layer.succeed(Draining, all))
    )
  })

/**
 * Makes the same layer as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options?: HttpOptions): Layer.Layer<never, never, HttpServer.HttpServer | Dispatcher> =>
  drainFirst(
    Layer.scopedDiscard(Effect.flatMap(make({ path: "/mcp", ...options }), (app) => HttpServer.serveEffect(app)))
  )

/**
 * Serves the endpoint alone, on the platform's HTTP server. The path is "/mcp" unless the option `path` names another path. Provide an
 * `EventStore` to allow clients to resume streams.
 *
 * @category layers
 */
export const layer: Layer.Layer<never, never, HttpServer.HttpServer | Dispatcher> = layerWith()

/**
 * Makes the same layer as `layer`, with options from the configuration of the program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<HttpOptions>
): Layer.Layer<never, ConfigError, HttpServer.HttpServer | Dispatcher> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerWith))
