/**
 * The HTTP endpoint of a server as a function that takes Node's request and response. Use this module in an application that has its own
 * HTTP server: Express, Fastify or plain `node:http`. A server of `node:http2` can also call the function, but the types of its request and
 * response differ. The function refuses a request whose `:authority` and Host name different hosts.
 *
 * To start a separate HTTP server, use `HttpServer` of this package. In an application of `@effect/platform`, use `HttpEndpoint` of
 * `@effect-mcp/core`. In an application of Hono, use `WebHandler` of `@effect-mcp/core`.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as BuiltOnce from "@effect-mcp/core/unstable/server/BuiltOnce"
import * as Endpoint from "@effect-mcp/core/unstable/server/Endpoint"
import * as OpenExchanges from "@effect-mcp/core/unstable/server/OpenExchanges"
import type { HostedOptions, HttpOptions } from "@effect-mcp/core/WebHandler"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { refuse } from "./http/Connections.js"
import { MountedExchange } from "./http/MountedExchange.js"

/**
 * The values that the application passes to the handler with one request.
 *
 * @category models
 */
export interface Given<User = never> {
  /**
   * The body of the request, if the application has already read the body. It may be a parsed value, a text, or bytes. Default: the member
   * `body` of the request, in which Express stores the body.
   */
  readonly body?: unknown
  /**
   * Services for this request only. With the option `user` of `make`, one of these services must be the user that the application has
   * authenticated. The authenticator, middleware and handlers must read all other services with `Effect.serviceOption`, because the
   * compiler cannot check that the application provides these services.
   */
  readonly context?: Context.Context<User> | undefined
}

/**
 * A function that answers a request of any HTTP method. If the third argument is a function, such as `next` of Express, the handler does
 * not call it, because the handler answers every request.
 *
 * @category models
 */
export type Handler<User = never> = (
  request: IncomingMessage,
  response: ServerResponse,
  ...given: [User] extends [never] ? [given?: Given | ((...args: never) => unknown)]
    : [given: Given<User> & { readonly context: Context.Context<User> }]
) => void

/** @category models */
export interface NodeHandlerService<User = never> {
  readonly handler: Handler<User>
  /** The number of open sessions. */
  readonly sessions: () => number
}

/** @category tags */
export class NodeHandler extends Context.Tag("@effect-mcp/node/NodeHandler")<NodeHandler, NodeHandlerService>() {}

/**
 * Makes a handler that serves until the scope closes. Without the option `path`, the handler serves every path. `path` is relative to the
 * path at which a router has mounted the handler. Without `allowedHosts`, a server on a loopback address allows only the hosts of this
 * machine, and a server on another address allows every host. Without `allowedOrigins`, the handler allows only pages of this machine.
 *
 * When the scope closes, the handler ends streams, and interrupts the running tools, prompts and resources and answers their requests. It
 * answers new requests with status 503, and waits until clients have read their responses. After `closeTimeout`, it destroys the remaining
 * connections. Tell the HTTP server to stop listening before you close the scope. Do not wait for the HTTP server to end before you close
 * the scope, because the HTTP server waits for the open streams.
 *
 * @category constructors
 */
export const make = <User = never>(
  options: HostedOptions<User> = {}
): Effect.Effect<NodeHandlerService<User>, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.make(options)
    const open = yield* OpenExchanges.make<MountedExchange>(endpoint, options.closeTimeout)
    return {
      handler: (request, response, ...[given]) => {
        const exchange = new MountedExchange(request, response, typeof given === "object" ? given as Given : undefined)
        if (exchange.isGone) return
        response.once("close", () => open.remove(exchange))
        open.handle(exchange)
      },
      sessions: endpoint.sessions
    }
  })

/**
 * Provides the same handler as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options?: HttpOptions): Layer.Layer<NodeHandler, never, Dispatcher> =>
  Layer.scoped(NodeHandler, make(options))

/**
 * Provides the handler of `make` as a layer. Clients can resume streams when the application provides an `EventStore`. A program with two
 * servers needs two layers: call `layerWith()` for each server.
 *
 * @category layers
 */
export const layer: Layer.Layer<NodeHandler, never, Dispatcher> = layerWith()

/**
 * Makes a handler of a server, for an application without Effect. The first request builds the layer `server`. When the layer fails, the
 * handler logs the cause and answers with status 500, and the next request builds the layer again. Call `ready` to build the layer before
 * the first request. The promise of `ready` is rejected when the layer fails, so that an application with a broken configuration does not
 * start. `dispose` closes the handler in the same way as a closing scope of `make`, and releases the layer. Clients can resume streams when
 * the layer provides an `EventStore`.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as NodeHandler from "@effect-mcp/node/NodeHandler"
 * import { Layer } from "effect"
 * import { createServer } from "node:http"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * const { dispose, handler, ready } = NodeHandler.fromLayer(Server)
 * await ready()
 *
 * const server = createServer((request, response) => {
 *   if (request.url === "/mcp") handler(request, response)
 *   else response.end("the rest of the application")
 * })
 * process.once("SIGTERM", () => {
 *   server.close()
 *   void dispose()
 * })
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
  const node = Effect.flatMap(Layer.build(server), (context) => Effect.provide(make(options), context))
  const { current, dispose, ready } = BuiltOnce.make(node as Effect.Effect<NodeHandlerService<User>, E, Scope.Scope>)
  return {
    dispose,
    ready,
    handler: (request, response, ...given) => {
      const built = current()
      if (built === undefined) return refuse(response, 503)
      if (!(built instanceof Promise)) return built.handler(request, response, ...given)
      built.then(
        ({ handler }) => handler(request, response, ...given),
        () => refuse(response, 500)
      )
    }
  }
}
