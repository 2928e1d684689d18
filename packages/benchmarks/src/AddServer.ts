/**
 * The server of Effect MCP for all subjects: it has the tool "add", the same with a notification of progress before the result, and serves both eras. How it is reached is up to the
 * subject: over HTTP, over a pair of transports, or in process.
 */
import * as Tool from "@effect-mcp/definition/Tool"
import * as McpServer from "@effect-mcp/server/McpServer"
import * as ServerSession from "@effect-mcp/server/ServerSession"
import { Effect, Layer, Schema } from "effect"

export const Add = Tool.make("add", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})

const AddSlowly = Tool.make("addSlowly", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})

export const info = { name: "bench", version: "1.0.0" }

export const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

const AddSlowlyLive = McpServer.tool(
  AddSlowly,
  ({ a, b }) =>
    Effect.flatMap(
      ServerSession.ServerSession,
      (session) => Effect.as(session.progress(1, { total: 2 }), { sum: a + b })
    )
)

export const Server = McpServer.layer(info, Layer.merge(AddLive, AddSlowlyLive))
