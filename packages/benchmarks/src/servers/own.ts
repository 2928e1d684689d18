/**
 * Effect MCP over HTTP: on Node's HTTP server, and on that of `@effect/platform`. Both serve the same layer, with default
 * options.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { HttpServer } from "@effect-mcp/node"
import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { Server } from "../AddServer.js"
import { type Start, urlOf } from "./Start.js"

export const onNode: Start = (onListening) =>
  void Effect.runFork(
    Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => onListening(url))).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpServer.layer({ port: 0 }).pipe(Layer.provide(Server)))
    )
  )

export const onPlatform: Start = (onListening) =>
  void Effect.runFork(
    Effect.flatMap(
      PlatformServer.HttpServer,
      ({ address }) => Effect.sync(() => onListening(urlOf((address as { readonly port: number }).port)))
    ).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpEndpoint.serve({ path: "/mcp" })),
      Effect.provide(Server),
      Effect.provide(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
    )
  )
