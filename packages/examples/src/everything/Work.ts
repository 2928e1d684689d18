/**
 * Tools that take their time: they say how far they are, log what they do, can be stopped, and let a client go and come
 * back for the answer.
 */
import * as Tool from "@effect-mcp/definition/Tool"
import * as McpServer from "@effect-mcp/server/McpServer"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { Effect, Layer, Schema } from "effect"

const WithProgress = Tool.make("test_tool_with_progress", { description: "Says how far it is, three times." })
const WithLogging = Tool.make("test_tool_with_logging", {
  description: "Logs what it does, with Effect's own loggers."
})
const Reconnection = Tool.make("test_reconnection", {
  description: "Ends the stream that its answer would travel on; clients come back for it."
})
const Sleep = Tool.make("test_sleep", {
  description: "Sleeps, until it is cancelled or the time is over.",
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
  // `Effect.log` reaches the client by way of `ClientLogger`, see `Everything.ts`; `RequestContext.log` would do so without.
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
      return "The stream was closed, and the answer was kept for whoever came back"
    })),
  // Nothing is to be done about cancellation: interrupting is what it is.
  McpServer.tool(Sleep, ({ seconds }) => Effect.as(Effect.sleep(`${seconds} seconds`), `Slept for ${seconds} seconds`))
)
