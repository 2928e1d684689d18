/**
 * The HTTP endpoint of a server as a function from a web `Request` to a web `Response`: for Deno, Bun, Workers, Hono, Next and
 * whatever else serves such functions. It uses the Fetch API only. An application of `@effect/platform` uses `HttpEndpoint`;
 * on Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Endpoint from "./dispatch/Endpoint.js"
import type { Dispatcher } from "./Dispatcher.js"
import * as BuiltOnce from "./http/BuiltOnce.js"
import * as OpenExchanges from "./http/OpenExchanges.js"
import * as Refusal from "./http/Refusal.js"
import { WebExchange } from "./http/WebExchange.js"
import type { HostedOptions, HttpOptions } from "./HttpOptions.js"

/**
 * Answers a request. A client has disconnected when `request.signal` is aborted or the body of the response is canceled; from
 * 2026-07-28 on, that interrupts the request. Then the response has status 499, and no client receives it.
 *
 * `context` has services for this request alone: the user that a framework has authenticated (see the option `user`), or the
 * bindings of a platform. The authenticator, middleware and handlers read other services than the user with
 * `Effect.serviceOption`, because the compiler does not know them.
 *
 * @category models
 */
export type Handler<User = never> = (
  request: Request,
  ...context: [User] extends [never] ? [context?: Context.Context<never> | undefined] : [context: Context.Context<User>]
) => Promise<Response>

/** @category models */
export interface WebHandlerService<User = never> {
  readonly handler: Handler<User>
  /** The number of open sessions. */
  readonly sessions: () => number
}

/** @category tags */
export class WebHandler extends Context.Tag("@effect-mcp/server/WebHandler")<WebHandler, WebHandlerService>() {}

/**
 * A handler that serves until the scope closes. It serves any path, unless `path` names one. Only loopback hosts and origins
 * are allowed unless `allowedHosts` and `allowedOrigins` are given; the host is that of the Host header, else of the URL.
 *
 * Closing ends streams, interrupts handlers and answers their requests, answers new requests with 503, and waits until the
 * platform has taken all responses. After `closeTimeout` it cuts off those that are left.
 *
 * The platform receives answers of up to 64 Ki characters whole. An HTTP server below that accepts pipelined requests must
 * itself cut clients that do not read them.
 *
 * @category constructors
 */
export const make = <User = never>(
  options: HostedOptions<User> = {}
): Effect.Effect<WebHandlerService<User>, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.make(options, true)
    const open = yield* OpenExchanges.make<WebExchange>(endpoint, options.closeTimeout)
    return {
      handler: (request, ...[services]) =>
        new Promise((settle) =>
          open.handle(new WebExchange(request, services as Context.Context<never> | undefined, settle, open.remove))
        ),
      sessions: endpoint.sessions
    }
  })

/**
 * `make` as a layer. Provide an `EventStore` to let clients resume streams.
 *
 * @category layers
 */
export const layer = (options?: HttpOptions): Layer.Layer<WebHandler, never, Dispatcher> =>
  Layer.scoped(WebHandler, make(options))

/**
 * A handler of a server. The first request builds the server, because some platforms allow no work before the first request.
 * When the layer fails, the cause is logged, the handler rejects, and the next request builds the server again. `ready`
 * builds the server before the first request and rejects when the layer fails. `dispose` closes the handler, as closing the
 * scope of `make` does, and releases the server. With an `EventStore` in the layer, clients can resume streams.
 *
 * Sessions are in the memory of one process. A platform that spreads requests over several processes, or that ends a process
 * after a request, needs `legacy: { sessions: false }`. Requests from 2026-07-28 on belong to no session.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/server/McpServer"
 * import * as WebHandler from "@effect-mcp/server/WebHandler"
 * import { Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * const { handler } = WebHandler.fromLayer(Server, { allowedHosts: ["mcp.example.com"] })
 *
 * export default { fetch: (request: Request) => handler(request) }
 * ```
 * @category constructors
 */
export const fromLayer = <A, E, User = never>(
  server: Layer.Layer<A | Dispatcher, E>,
  options?: HostedOptions<User>
): {
  readonly handler: Handler<User>
  readonly ready: () => Promise<void>
  readonly dispose: () => Promise<void>
} => {
  const web = Effect.flatMap(Layer.build(server), (context) => Effect.provide(make(options), context))
  const { current, dispose, ready } = BuiltOnce.make(web as Effect.Effect<WebHandlerService<User>, E, Scope.Scope>)
  return {
    dispose,
    ready,
    handler: (request, ...context) => {
      const built = current()
      return built === undefined
        ? refused(request)
        : built instanceof Promise
        ? built.then(({ handler }) => handler(request, ...context))
        : built.handler(request, ...context)
    }
  }
}

const refused = (request: Request): Promise<Response> =>
  new Promise((settle) => Refusal.send(new WebExchange(request, undefined, settle, () => {}), Refusal.closing))
