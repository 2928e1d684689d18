/**
 * A server whose films survive it: each scene is a step of a durable tool, and PostgreSQL keeps what the steps have given. It takes the
 * address of PostgreSQL and a port.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as ClusterEngine from "@effect-mcp/workflow/ClusterEngine"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Film } from "./contract.js"

const [url = "", port = "0"] = process.argv.slice(2)

const render = (scene: number) =>
  Console.log(`scene ${scene} begins`).pipe(
    Effect.zipRight(Effect.sleep("1 second")),
    Effect.zipRight(Console.log(`scene ${scene} ends`)),
    Effect.as(2)
  )

const FilmLive = DurableTool.layer(Film, function*({ scenes }, task) {
  let minutes = 0
  for (let scene = 1; scene <= scenes; scene++) {
    minutes += yield* task.step(`scene ${scene}`, { success: Schema.Int, run: render(scene) })
  }
  return { minutes }
})

const Server = McpServer.layer({ name: "films", version: "1.0.0" }, Layer.merge(FilmLive, TasksServer.layer), {
  extensions: [TasksServer.extension]
})

const Announced = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`listens at ${url}`))
)

Announced.pipe(
  Layer.provide(HttpServer.layer({ port: Number(port) })),
  Layer.provide(Server),
  Layer.provide(ClusterEngine.layer),
  Layer.provide(PgNodes.client({ url })),
  Layer.provide(PgNodes.layer({ url })),
  Layer.launch,
  NodeRuntime.runMain
)
