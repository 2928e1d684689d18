/**
 * Effect MCP over HTTP: on Node's HTTP server, on the HTTP server of `@effect/platform`, and as a function of web requests. All serve the
 * same layer, with default options, except for `wide` and `stateless`.
 */
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Effect, Layer } from "effect"
import { Server } from "../AddServer.js"
import * as Platform from "./platform.js"
import * as Start from "./Start.js"

/** On the adapter on which the official SDK, version 2, is measured, too. */
export const onHono: Start.Start = Start.onWeb(WebHandler.fromLayer(Server).handler)

const listening = (options: Omit<HttpServer.Options, "port">): Start.Start => (onListening) =>
  void Effect.runFork(
    Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => onListening(url))).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpServer.layer({ port: 0, ...options }).pipe(Layer.provide(Server)))
    )
  )

export const onNode: Start.Start = listening({})

/** Accepts more sessions than a server accepts by default. */
export const wide: Start.Start = listening({ limits: { maxSessions: 1_000_000 } })

export const stateless: Start.Start = listening({ legacy: { sessions: false } })

export const onPlatform: Start.Start = Platform.onPlatform(
  Layer.provide(HttpEndpoint.layerWith({ path: "/mcp" }), Server)
)
