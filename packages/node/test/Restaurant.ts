/**
 * A server whose tool runs as a task, and asks the user in it.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema } from "effect"

export const Book = Tool.make("book", {
  task: "required",
  parameters: { table: Schema.Int },
  success: Schema.Struct({ booked: Schema.Boolean })
})

const BookLive = McpServer.tool(Book, ({ table }) =>
  Effect.flatMap(ServerSession, ({ elicit }) =>
    Effect.map(
      elicit({ message: `Book table ${table}?`, schema: Schema.Struct({ sure: Schema.Boolean }) }),
      (answer) => ({ booked: answer.action === "accept" && answer.content.sure })
    )))

export const Server = McpServer.layer(
  { name: "restaurant", version: "1.0.0" },
  Layer.merge(BookLive, TasksServer.layerWith({ pollInterval: 50 })),
  { extensions: [TasksServer.extension] }
).pipe(Layer.provide(TaskStore.layerMemory))
