import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Config, Layer } from "effect"
import { Server } from "./server.js"

HttpServer.layerConfig({ port: Config.withDefault(Config.integer("PORT"), 3000) }).pipe(
  Layer.provide(Server),
  Layer.launch,
  NodeRuntime.runMain
)
