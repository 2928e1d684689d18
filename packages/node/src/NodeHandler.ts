/**
 * The HTTP endpoint of a server as a function of Node's request and response: for an application that has an HTTP server of
 * its own, such as one of Express or Fastify, or a bare `node:http`. A server of `node:http2` can call the handler, too, although the
 * types of its requests and responses are others; a request that names two hosts, in `:authority` and in Host, is refused. `HttpServer`
 * is a server of its own; an application of `@effect/platform` mounts `HttpEndpoint` of `@effect-mcp/core`, and Hono its `WebHandler`.
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
 * What the application knows of one request.
 *
 * @category models
 */
export interface Given<User = never> {
  /**
   * The body, where the application has read it: parsed, as a text, or as bytes. Default: the member `body` of the request,
   * where Express puts it, if the body has been read.
   */
  readonly body?: unknown
  /**
   * Services for this request alone: the user that the application has authenticated (see the option `user`), or other services. The
   * authenticator, middleware and handlers read other services with `Effect.serviceOption`, because the compiler does not know them.
   */
  readonly context?: Context.Context<User> | undefined
}

/**
 * Answers a request, whatever its method. A function in the third place, such as the `next` of Express, is ignored: it is
 * never called, because each request is answered.
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
 * A handler that serves until the scope closes. It serves any path, unless `path` names a path, below the path at which a
 * router has mounted the handler. Without `allowedHosts`, a server on a loopback address allows the hosts of this machine
 * only, and a server on another address allows any host. Without `allowedOrigins`, only pages of this machine are allowed.
 *
 * Closing ends streams, interrupts handlers and answers their requests, answers new requests with 503, and waits until
 * clients have taken their responses. After `closeTimeout` it destroys the connections that are left. Close the handler when
 * the HTTP server has stopped listening; the server, which waits for open streams, can then end.
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
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: HttpOptions): Layer.Layer<NodeHandler, never, Dispatcher> =>
  Layer.scoped(NodeHandler, make(options))

/**
 * `make` as a layer. Provide an `EventStore` to let clients resume streams.
 * A program with two servers needs a
 * layer for each: every `layerWith()` is another layer.
 *
 * @category layers
 */
export const layer: Layer.Layer<NodeHandler, never, Dispatcher> = layerWith()

/**
 * A handler of a server, for an application without Effect. The first request builds the server. When the layer fails, the
 * request is answered with 500, the cause is logged, and the next request builds the server again. `ready` builds the server
 * before the first request and rejects when the layer fails, so that an application with a broken configuration does not
 * start. `dispose` closes the handler, as closing the scope of `make` does, and releases the server. With an `EventStore` in
 * the layer, clients can resume streams.
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
