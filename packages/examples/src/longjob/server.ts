/**
 * A server over HTTP whose tool runs as a task: the film goes on when the client that has begun it is gone. The store in
 * memory loses its tasks with the process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NoScenes, Render } from "./contract.js"

const RenderLive = McpServer.tool(Render, ({ scenes }) =>
  scenes === 0
    ? new NoScenes()
    : Effect.delay(Effect.succeed({ minutes: scenes * 2, file: `film-of-${scenes}-scenes.mp4` }), `${scenes} seconds`))

const Server = McpServer.layer(
  { name: "render", version: "1.0.0" },
  Layer.merge(RenderLive, TasksServer.layerWith({ ttl: "1 hour", pollInterval: "200 millis" })),
  { extensions: [TasksServer.extension] }
).pipe(Layer.provide(TaskStore.layerMemory))

const Announced = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`the server is at ${url}`))
)

Announced.pipe(
  Layer.provide(HttpServer.layer({ port: 0 })),
  Layer.provide(Server),
  Layer.launch,
  NodeRuntime.runMain
)
