/**
 * The HTTP server of `@effect/platform-node`, which this module closes within a time limit. It is for applications that mount
 * `HttpEndpoint` of `@effect-mcp/core` beside other routes. `NodeHttpServer.layer` of `@effect/platform-node` itself waits for every
 * connection when it closes, even for a client that sends nothing or half a request.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as NodeServices from "@effect/platform-node/NodeServices"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import type * as Etag from "effect/http/Etag"
import type * as HttpPlatform from "effect/http/HttpPlatform"
import * as PlatformServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Server } from "node:http"
import type { ListenOptions } from "node:net"
import { Connections } from "./http/Connections.js"

/**
 * Where the server listens, and how long closing may take.
 *
 * @category models
 */
export interface Options extends ListenOptions {
  /**
   * How long closing waits until running requests have ended and clients have read their responses. Then it destroys the connections that
   * are left. Connections without a running request are closed at once. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.Input | undefined
}

/**
 * Like `NodeHttpServer.make`: serves until the scope closes.
 *
 * @category constructors
 */
export const make = (
  evaluate: LazyArg<Server>,
  { closeTimeout = "5 seconds", ...listen }: Options
): Effect.Effect<PlatformServer.HttpServer["Service"], ServeError, Scope.Scope> =>
  Effect.suspend(() => {
    const server = evaluate()
    const connections = new Connections(server)
    // Runs before the platform releases the server, which does nothing once the server has stopped listening.
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
 * Use this layer in place of `NodeHttpServer.layer`.
 *
 * @category layers
 */
export const layer = (
  evaluate: LazyArg<Server>,
  options: Options
): Layer.Layer<
  PlatformServer.HttpServer | HttpPlatform.HttpPlatform | Etag.Generator | NodeServices.NodeServices,
  ServeError
> => Layer.merge(Layer.effect(PlatformServer.HttpServer, make(evaluate, options)), NodeHttpServer.layerHttpServices)
