/**
 * A server whose tool `report` runs elsewhere: it only tells what it was given. For a process that is stopped, and for the test that ends
 * what the process began.
 */
import * as DetachedTask from "@effect-mcp/core/DetachedTask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import { Effect, Layer } from "effect"
import * as Sqlite from "./Sqlite.js"

export const Report = Tool.make("report", { task: "required" })

/** The server over a file. `attached` gets the tasks of the engine, `start` what each call gives to it. */
export const layer = (
  file: string,
  attached: (tasks: DetachedTask.DetachedTasks) => void,
  start: (reference: DetachedTask.Reference) => void
) => {
  const feature = Layer.unwrapScoped(Effect.map(
    DetachedTask.make({ name: "jobs", answered: () => Effect.void, stopped: () => Effect.void }),
    (tasks) => {
      attached(tasks)
      return DetachedTask.tool(tasks, Report, (_, reference) => Effect.sync(() => start(reference)))
    }
  ))
  return HttpServer.layer({ port: 0, legacy: { sessions: false } }).pipe(
    Layer.provide(McpServer.layer({ name: "reports", version: "0.0.0" }, Layer.merge(feature, TasksServer.layer), {
      extensions: [TasksServer.extension]
    })),
    Layer.provide(SqlNodes.layer),
    Layer.provide(Sqlite.client(file))
  )
}
