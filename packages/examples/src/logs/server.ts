/**
 * A server on stdio whose handlers log with Effect. `ClientLogger` sends these logs to the client of the request, with their
 * annotations; the other loggers of the program still write them to stderr.
 */
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schema from "effect/Schema"

const Import = Tool.make("import", {
  parameters: { rows: Schema.Array(Schema.String) },
  success: Schema.Struct({ imported: Schema.Int })
})

const ImportLive = McpServer.tool(Import, ({ rows }) =>
  Effect.gen(function*() {
    yield* Effect.logInfo("begins to import")
    const numbers = yield* Effect.filter(rows, (row, line) =>
      /^\d+$/.test(row)
        ? Effect.as(Effect.logDebug(`took ${row}`), true)
        : Effect.logWarning("skips what is not a number").pipe(Effect.annotateLogs({ line, row }), Effect.as(false)))
    return { imported: numbers.length }
  }))

StdioServer.layer.pipe(
  Layer.provide(McpServer.layer({ name: "logs", version: "1.0.0" }, ImportLive)),
  // Clients may ask for `debug`, which Effect drops by default.
  Layer.provide([ClientLogger.layer, Logger.minimumLogLevel(LogLevel.Debug)]),
  Layer.launch,
  StdioServer.runMain
)
