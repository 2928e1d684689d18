/**
 * A server whose tool runs as a task, and asks the user in it.
 */
import * as Tool from "@effect-mcp/definition/Tool"
import * as McpServer from "@effect-mcp/server/McpServer"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import * as Tasks from "@effect-mcp/server/Tasks"
import * as TaskStore from "@effect-mcp/server/TaskStore"
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
  Layer.merge(BookLive, Tasks.layer({ pollInterval: 50 })),
  { extensions: [Tasks.extension] }
).pipe(Layer.provide(TaskStore.layerMemory()))
