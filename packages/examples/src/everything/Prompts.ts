/**
 * Prompts: without arguments, with arguments and their completion, and with images and resources. Each is a definition and
 * a handler; `Everything.ts` collects them.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { png } from "./Samples.js"

const Simple = Prompt.make("test_simple_prompt", {
  title: "Simple",
  description: "A prompt without arguments.",
  icons: [{ src: "https://example.com/simple.png", mimeType: "image/png", sizes: ["48x48"] }],
  meta: { "example.com/order": 1 }
})
const WithArguments = Prompt.make("test_prompt_with_arguments", {
  description: "A prompt with two arguments.",
  arguments: {
    arg1: Schema.String.annotations({ description: "First test argument" }),
    arg2: Schema.String.annotations({ description: "Second test argument" })
  }
})
const WithResource = Prompt.make("test_prompt_with_embedded_resource", {
  description: "A prompt with a resource.",
  arguments: { resourceUri: Schema.String.annotations({ description: "The URI of the resource" }) }
})
const WithImage = Prompt.make("test_prompt_with_image", { description: "A prompt with an image." })
const WithChoice = Prompt.make("test_prompt_with_choice", {
  description: "A prompt whose argument is completed from its literals.",
  arguments: { tone: Schema.Literal("friendly", "formal", "funny") }
})

const words = ["paris", "park", "party", "test", "testValue1"]

export const layer = Layer.mergeAll(
  McpServer.prompt(Simple, () => Effect.succeed("This is a simple prompt for testing.")),
  McpServer.prompt(
    WithArguments,
    ({ arg1, arg2 }) => Effect.succeed(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    { complete: { arg1: (value) => Effect.succeed(words.filter((word) => word.startsWith(value))) } }
  ),
  McpServer.prompt(WithResource, ({ resourceUri }) =>
    Effect.succeed([
      Prompt.user({
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." }
      }),
      Prompt.user("Please process the embedded resource above.")
    ])),
  McpServer.prompt(WithImage, () =>
    Effect.succeed([
      Prompt.user({ type: "image", data: png, mimeType: "image/png" }),
      Prompt.user("Please analyze the image above.")
    ])),
  McpServer.prompt(WithChoice, ({ tone }) => Effect.succeed(`Answer in a ${tone} tone.`))
)
