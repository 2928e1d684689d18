/**
 * Tools for what every request of 2026-07-28 says by itself: the capabilities of its client, its log level, the arguments
 * that HTTP headers repeat. And tools that change what the server offers, for clients that listen to changes.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Regional = RawTool.make("test_x_mcp_header", {
  description: "Takes an argument that an HTTP header repeats, so that a proxy can route the call.",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
})
const MissingCapability = Tool.make("test_missing_capability", { description: "Needs a client with a model." })
const Streaming = Tool.make("test_streaming_elicitation", { description: "Reports progress, then asks." })
const Logging = Tool.make("test_logging_tool", { description: "Logs, for clients that want it." })

const Temporary = McpServer.tool(
  Tool.make("test_temporary", { description: "Comes and goes." }),
  () => Effect.succeed("here")
)
const TemporaryPrompt = McpServer.prompt(
  Prompt.make("test_temporary_prompt", { description: "Comes and goes." }),
  () => Effect.succeed("here")
)

/** A tool that adds a feature to the server and removes it again. */
const trigger = (name: string, feature: Layer.Layer<never, never, Registry.Registry>) =>
  Layer.unwrapEffect(Effect.map(Registry.Registry, (registry) =>
    McpServer.tool(
      Tool.make(name, { description: "Changes what the server offers." }),
      () =>
        Effect.as(
          Effect.scoped(Layer.build(Layer.provide(feature, Layer.succeed(Registry.Registry, registry)))),
          "changed"
        )
    )))

export const layer = Layer.mergeAll(
  McpServer.tool(Regional, () => Effect.void),
  McpServer.tool(MissingCapability, () =>
    Effect.flatMap(ServerSession, (session) =>
      Effect.as(
        session.createMessage({ messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 5 }),
        "sampled"
      ))),
  McpServer.tool(Streaming, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      yield* session.progress(0, { message: "About to ask" })
      const answer = yield* session.elicit({ message: "Go on?", schema: Schema.Struct({ ok: Schema.Boolean }) })
      return answer.action
    })),
  McpServer.tool(
    Logging,
    () => Effect.flatMap(RequestContext, (request) => Effect.as(request.log("info", "The tool runs"), "logged"))
  ),
  trigger("test_trigger_tool_change", Temporary),
  trigger("test_trigger_prompt_change", TemporaryPrompt)
)
