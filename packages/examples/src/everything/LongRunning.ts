/**
 * Tools that run for a while: they report progress, log, and can be cancelled.
 * One of them closes its stream, so that the client polls for the result.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const WithProgress = Tool.make("test_tool_with_progress", { description: "Reports progress three times." })
const WithLogging = Tool.make("test_tool_with_logging", {
  description: "Logs with `Effect.log`."
})
const Reconnection = Tool.make("test_reconnection", {
  description: "Closes the stream of its response, so that the client reconnects for it."
})
const Sleep = Tool.make("test_sleep", {
  description: "Sleeps for some seconds, or until it is cancelled.",
  parameters: { seconds: Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 600)), { default: () => 5 }) }
})

export const layer = Layer.mergeAll(
  McpServer.tool(WithProgress, () =>
    Effect.gen(function*() {
      const request = yield* RequestContext
      for (const progress of [0, 50, 100]) {
        yield* request.progress(progress, { total: 100, message: `Completed step ${progress} of 100` })
        yield* Effect.sleep("50 millis")
      }
      return "Done"
    })),
  // `ClientLogger` in `Everything.ts` sends this to the client. `RequestContext.log` does so without it.
  McpServer.tool(WithLogging, () =>
    Effect.gen(function*() {
      yield* Effect.logInfo("Tool execution started")
      yield* Effect.sleep("50 millis")
      yield* Effect.logInfo("Tool processing data")
      yield* Effect.sleep("50 millis")
      yield* Effect.logInfo("Tool execution completed")
      return "Tool with logging executed successfully"
    })),
  McpServer.tool(Reconnection, () =>
    Effect.gen(function*() {
      const request = yield* RequestContext
      yield* Effect.sleep("50 millis")
      yield* request.closeStream
      yield* Effect.sleep("100 millis")
      return "The stream was closed, and the response was kept"
    })),
  // Cancelling interrupts the handler, so it needs no code.
  McpServer.tool(Sleep, ({ seconds }) => Effect.as(Effect.sleep(`${seconds} seconds`), `Slept for ${seconds} seconds`))
)
