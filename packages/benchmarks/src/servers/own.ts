/**
 * Effect MCP over HTTP: on Node's HTTP server, on that of `@effect/platform`, and as a function of web requests. All serve
 * the same layer, with default options.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
import * as WebHandler from "@effect-mcp/server/WebHandler"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { Server } from "../AddServer.js"
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

export const stateless: Start.Start = listening({ legacy: { sessions: false } })

export const onPlatform: Start.Start = (onListening) =>
  void Effect.runFork(
    Effect.flatMap(
      PlatformServer.HttpServer,
      ({ address }) => Effect.sync(() => onListening(Start.urlOf((address as { readonly port: number }).port)))
    ).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpEndpoint.serve({ path: "/mcp" })),
      Effect.provide(Server),
      Effect.provide(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
    )
  )
