/**
 * The HTTP endpoint of a server as a function from a web `Request` to a web `Response`: for Deno, Bun, Workers, Hono, Next and
 * whatever else serves such functions. It uses the Fetch API only. An application of `@effect/platform` uses `HttpEndpoint`;
 * on Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Endpoint from "./dispatch/Endpoint.js"
import type { Dispatcher } from "./Dispatcher.js"
import * as Refusal from "./http/Refusal.js"
import { WebExchange } from "./http/WebExchange.js"
import type { HttpOptions } from "./HttpOptions.js"

/**
 * Answers a request. A client has disconnected when `request.signal` is aborted or the body of the response is canceled; from
 * 2026-07-28 on, that interrupts the request. Then the response has status 499, and no client receives it.
 *
 * `context` has services for this request alone: the bindings of a platform, or the user whom a framework has authenticated.
 * `authenticate`, middleware and handlers read them with `Effect.serviceOption`, because the compiler does not know them.
 */
export type Handler = (request: Request, context?: Context.Context<never> | undefined) => Promise<Response>

export interface WebHandlerService {
  readonly handler: Handler
  /** The number of open sessions. */
  readonly sessions: () => number
}

export class WebHandler extends Context.Tag("@effect-mcp/server/WebHandler")<WebHandler, WebHandlerService>() {}

/**
 * A handler that serves until the scope closes. It serves any path, unless `path` names one. Only loopback hosts and origins
 * are allowed unless `allowedHosts` and `allowedOrigins` are given; the host is that of the Host header, else of the URL.
 *
 * Closing ends streams, interrupts handlers and answers their requests, answers new requests with 503, and waits until the
 * platform has taken all responses. After `closeTimeout` it cuts off those that are left.
 */
export const make = <R = never>(
  options: HttpOptions<R> = {}
): Effect.Effect<WebHandlerService, never, Dispatcher | Scope.Scope | R> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.make(options)
    const open = new Set<WebExchange>()
    let onEmpty = () => {}
    const onDone = (exchange: WebExchange) => {
      open.delete(exchange)
      if (open.size === 0) onEmpty()
    }
    const emptied = Effect.async<void>((resume) => {
      onEmpty = () => resume(Effect.void)
      if (open.size === 0) onEmpty()
    })
    const closeTimeout = options.closeTimeout ?? "5 seconds"
    yield* Effect.addFinalizer(() =>
      Effect.timed(endpoint.close).pipe(
        // Nothing runs for a request before all of it has come.
        Effect.tap(() => Effect.sync(() => open.forEach((one) => one.isReading && Refusal.send(one, Refusal.closing)))),
        Effect.flatMap(([elapsed]) =>
          Effect.timeoutOption(
            Effect.interruptible(Effect.disconnect(emptied)),
            Duration.subtract(closeTimeout, elapsed)
          )
        ),
        Effect.zipRight(Effect.sync(() =>
          open.forEach((one) => {
            Refusal.send(one, Refusal.closing)
            one.cut()
          })
        ))
      )
    )
    return {
      handler: (request, services) =>
        new Promise((settle) => {
          const exchange = new WebExchange(request, services, settle, onDone)
          if (exchange.isGone) return
          open.add(exchange)
          endpoint.handle(exchange)
        }),
      sessions: endpoint.sessions
    }
  })

/** `make` as a layer. Provide an `EventStore` to let clients resume streams. */
export const layer = <R = never>(
  options?: HttpOptions<R>
): Layer.Layer<WebHandler, never, Dispatcher | Exclude<R, Scope.Scope>> => Layer.scoped(WebHandler, make(options))

/**
 * A handler of a server. The first request builds the server, because some platforms allow no work before it. When the layer
 * fails, the handler rejects with its error, and the next request builds it again. `dispose` closes the handler, as closing the
 * scope of `make` does, and releases the server. `authenticate` may require what the layer provides. With an `EventStore` in the
 * layer, clients can resume streams.
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
 */
export const fromLayer = <A, E>(
  server: Layer.Layer<A | Dispatcher, E>,
  options?: HttpOptions<NoInfer<A>>
): { readonly handler: Handler; readonly dispose: () => Promise<void> } => {
  const scope = Effect.runSync(Scope.make())
  const web = Layer.provide(layer(options), server) as Layer.Layer<WebHandler, E>
  let ready: Handler | undefined
  let building: Promise<Handler> | undefined
  let disposing: Promise<void> | undefined
  const build = Effect.flatMap(
    Scope.fork(scope, ExecutionStrategy.sequential),
    (own) =>
      Layer.buildWithScope(web, own).pipe(
        Effect.map((context) => (ready = Context.get(context, WebHandler).handler)),
        Effect.onError((cause) => {
          building = undefined
          return Scope.close(own, Exit.failCause(cause))
        })
      )
  )
  return {
    handler: (request, context) => {
      if (ready !== undefined) return ready(request, context)
      if (disposing !== undefined) return refused(request)
      building ??= Effect.runPromise(build)
      return building.then((handler) => handler(request, context))
    },
    dispose: () => disposing ??= Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const refused = (request: Request): Promise<Response> =>
  new Promise((settle) => Refusal.send(new WebExchange(request, undefined, settle, () => {}), Refusal.closing))
