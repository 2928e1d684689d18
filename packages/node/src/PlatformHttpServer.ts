/**
 * Starts the HTTP server of `@effect/platform-node`, and closes the server within a time limit. `http/Connections` closes the connections.
 * Use this module in an application that mounts `HttpEndpoint` of `@effect-mcp/core` beside other routes. The layer of this module replaces
 * `NodeHttpServer.layer`. When `NodeHttpServer.layer` closes, it waits for every connection, even for a client that sends nothing or half a
 * request.
 *
 * @since 0.1.0
 */
import type * as Etag from "@effect/platform/Etag"
import type * as HttpPlatform from "@effect/platform/HttpPlatform"
import * as PlatformServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Server } from "node:http"
import type { ListenOptions } from "node:net"
import { Connections } from "./http/Connections.js"

/**
 * The address on which the server listens, and the time limit for closing.
 *
 * @category models
 */
export interface Options extends ListenOptions {
  /**
   * How long a closing server waits until running requests have ended and clients have read their responses. After this time the server
   * destroys the remaining connections. The server closes idle connections at once, and connections without any request yet after 200
   * milliseconds. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
}

/**
 * Makes a server that serves until the scope closes, like `NodeHttpServer.make`.
 *
 * @category constructors
 */
export const make = (
  evaluate: LazyArg<Server>,
  { closeTimeout = "5 seconds", ...listen }: Options
): Effect.Effect<PlatformServer.HttpServer, ServeError, Scope.Scope> =>
  Effect.suspend(() => {
    const server = evaluate()
    const connections = new Connections(server)
    // This runs before the platform releases the server. The release does nothing when the server has already stopped listening.
    return Effect.tap(
      NodeHttpServer.make(() => server, listen),
      () =>
        Effect.addFinalizer(() =>
          connections.close({
            drain: Effect.void,
            timeout: closeTimeout,
            // A handler of another route may be reading an incomplete request.
            refuseIncomplete: false
          })
        )
    )
  })

/**
 * Provides the HTTP server. Use this layer instead of `NodeHttpServer.layer`.
 *
 * @example
 * ```ts
 * import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
 * import { Layer } from "effect"
 * import { createServer } from "node:http"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * export const Live = HttpEndpoint.layer.pipe(
 *   Layer.provide(PlatformHttpServer.layer(createServer, { port: 3000, host: "127.0.0.1", closeTimeout: "10 seconds" })),
 *   Layer.provide(Server)
 * )
 * ```
 * @category layers
 */
export const layer = (
  evaluate: LazyArg<Server>,
  options: Options
): Layer.Layer<
  PlatformServer.HttpServer | HttpPlatform.HttpPlatform | Etag.Generator | NodeContext.NodeContext,
  ServeError
> => Layer.merge(Layer.scoped(PlatformServer.HttpServer, make(evaluate, options)), NodeHttpServer.layerContext)
