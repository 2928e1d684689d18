import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Config, Effect, Layer } from "effect"
import { Server } from "./server.js"

const Listening = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.log(`Listening at ${url}`))
)

Listening.pipe(
  Layer.provide(HttpServer.layerConfig({ port: Config.withDefault(Config.integer("PORT"), 3000) })),
  Layer.provide(Server),
  Layer.launch,
  NodeRuntime.runMain
)
