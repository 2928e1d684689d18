/**
 * Effect MCP over HTTP: on Node's HTTP server, on that of `@effect/platform`, and as a function of web requests. All serve
 * the same layer, with default options.
 */
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Effect, Layer } from "effect"
import { Server } from "../AddServer.js"
import * as Platform from "./platform.js"
import * as Start from "./Start.js"

/** The same adapter as that of the official SDK, version 2. */
export const onHono: Start.Start = Start.onWeb(WebHandler.fromLayer(Server).handler)

const listening = (options: Omit<HttpServer.Options, "port">): Start.Start => (onListening) =>
  void Effect.runFork(
    Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => onListening(url))).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpServer.layer({ port: 0, ...options }).pipe(Layer.provide(Server)))
    )
  )

export const onNode: Start.Start = listening({})

/** For more sessions than there may be by default. */
export const wide: Start.Start = listening({ limits: { maxSessions: 1_000_000 } })

export const stateless: Start.Start = listening({ legacy: { sessions: false } })

export const onPlatform: Start.Start = Platform.onPlatform(
  Layer.provide(HttpEndpoint.layerWith({ path: "/mcp" }), Server)
)
