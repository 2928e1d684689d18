/**
 * The smallest server over stdio, as an application with Effect MCP has it: one tool, and no options. `startup.ts` starts it, unbundled and
 * bundled.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Add = Tool.make("add", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})

const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

StdioServer.layer.pipe(
  Layer.provide(McpServer.layer({ name: "bench", version: "1.0.0" }, AddLive)),
  Layer.launch,
  StdioServer.runMain
)
