/**
 * Tools with every kind of result: text, image, audio, resource, several of them, structured content, and failures.
 * The sample files are in `Samples`.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { png, wav } from "./Samples.js"

const SimpleText = Tool.make("test_simple_text", { description: "Returns text." })
const ImageContent = Tool.make("test_image_content", { description: "Returns an image." })
const AudioContent = Tool.make("test_audio_content", { description: "Returns audio." })
const EmbeddedResource = Tool.make("test_embedded_resource", {
  description: "Returns a resource with its content."
})
const MultipleContent = Tool.make("test_multiple_content_types", {
  description: "Returns text, an image and a resource."
})
const ResourceLink = Tool.make("test_resource_link", { description: "Returns a link to a resource." })

// The model receives a declared failure as a result with `isError`.
class Intended extends Schema.TaggedError<Intended>()("Intended", { message: Schema.String }) {}
const ErrorHandling = Tool.make("test_error_handling", {
  description: "Fails with a declared failure.",
  failure: Schema.String
})
const Dice = Tool.make("test_structured_content", {
  description: "Rolls a die, and returns structured content.",
  parameters: { sides: Schema.optionalWith(Schema.Int.pipe(Schema.between(2, 100)), { default: () => 6 }) },
  success: Schema.Struct({ sides: Schema.Int, rolled: Schema.Int }),
  failure: Intended,
  annotations: { readOnlyHint: true }
})

// A JSON Schema from elsewhere is listed as it is.
const RawSchema = RawTool.make("json_schema_2020_12_tool", {
  description: "Takes arguments that a JSON Schema of draft 2020-12 describes.",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } }
      }
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" }
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false
  }
})

export const layer = Layer.mergeAll(
  McpServer.tool(SimpleText, () => Effect.succeed("This is a simple text response for testing.")),
  McpServer.tool(
    ImageContent,
    () => Effect.succeed(ToolResult.image(png, "image/png", { annotations: { audience: ["user"] } }))
  ),
  McpServer.tool(AudioContent, () => Effect.succeed(ToolResult.audio(wav, "audio/wav"))),
  McpServer.tool(EmbeddedResource, () =>
    Effect.succeed(ToolResult.resource({
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content."
    }))),
  McpServer.tool(MultipleContent, () =>
    Effect.succeed(
      ToolResult.text("Multiple content types test:").pipe(
        ToolResult.concat(ToolResult.image(png, "image/png")),
        ToolResult.concat(ToolResult.resource({
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 })
        }))
      )
    )),
  McpServer.tool(
    ResourceLink,
    () => Effect.succeed(ToolResult.link({ name: "static-text", uri: "test://static-text", mimeType: "text/plain" }))
  ),
  McpServer.tool(ErrorHandling, () => Effect.fail("This tool intentionally returns an error for testing")),
  McpServer.tool(Dice, ({ sides }) => Effect.succeed({ sides, rolled: Math.ceil(sides / 2) })),
  McpServer.tool(RawSchema, (args) => Effect.succeed(`Valid: ${JSON.stringify(args)}`))
)
