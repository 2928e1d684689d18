/**
 * The content of messages to a model and from a model: text, images, audio, uses of tools and results of tools. When the revision of a peer
 * does not have a kind of content, the peer receives text instead. `Sampling` has the messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import { asText, AudioContent, ContentBlock, ImageContent, TextContent } from "./Content.js"
import { JsonObject, JsonValue } from "./Json.js"
import * as Meta from "./Meta.js"
import { limitedUntil, replacedBefore } from "./schema/Since.js"

/**
 * A request of the model to use a tool.
 *
 * @category models
 */
export interface ToolUseContent extends Schema.Schema.Type<typeof ToolUseContent> {}

/** @category schemas */
export const ToolUseContent = Schema.Struct({
  type: Schema.Literal("tool_use"),
  /** The id of this tool use. The content with the result has the same id in `toolUseId`. */
  id: Schema.String,
  name: Schema.String,
  input: JsonObject,
  ...Meta.any
})

/**
 * The result of a use of a tool.
 *
 * @category models
 */
export interface ToolResultContent extends Schema.Schema.Type<typeof ToolResultContent> {}

/** @category schemas */
export const ToolResultContent = Schema.Struct({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(ContentBlock),
  /** The result as JSON. With revision 2025-11-25 and earlier, the result must be an object. */
  structuredContent: limitedUntil("2025-11-25", Predicate.isRecord, Schema.optional(JsonValue)),
  isError: Schema.optional(Schema.Boolean),
  ...Meta.any
})

/** @category models */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

const useAsText = ({ input, name }: ToolUseContent): TextContent =>
  asText(`[tool use: ${name}] ${JsonText.stringify(input) ?? "{}"}`)

const resultAsText = ({ content, isError }: ToolResultContent): TextContent =>
  asText([isError === true ? "[tool error]" : "[tool result]", ...content.map(textOf)].join("\n"))

const textOf = (block: ContentBlock | SamplingContent): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource] ${block.resource.uri}`
    case "resource_link":
      return `[resource: ${block.name}] ${block.uri}`
    case "tool_use":
      return useAsText(block).text
    case "tool_result":
      return resultAsText(block).text
    default:
      return `[${block.type}: ${block.mimeType}]`
  }
}

/**
 * One block of content.
 *
 * @category schemas
 */
export const SamplingBlock: Schema.Schema<SamplingContent> = Schema.Union(
  TextContent,
  ImageContent,
  replacedBefore("2025-03-26", AudioContent, (audio) => asText(textOf(audio), audio)),
  replacedBefore("2025-11-25", ToolUseContent, useAsText),
  replacedBefore("2025-11-25", ToolResultContent, resultAsText)
)

/**
 * Content that has any number of blocks.
 *
 * @category schemas
 */
export const SamplingBlocks: Schema.Schema<ReadonlyArray<SamplingContent>> = Schema.Array(SamplingBlock)

/**
 * Converts the content of a message to one block: the only block, or one text block with the text of all blocks.
 *
 * @category utils
 */
export const asOneBlock = (content: SamplingContent | ReadonlyArray<SamplingContent>): SamplingContent => {
  if (!Array.isArray(content)) return content as SamplingContent
  const blocks = content as ReadonlyArray<SamplingContent>
  return blocks.length === 1 ? blocks[0]! : asText(blocks.map(textOf).join("\n"))
}
