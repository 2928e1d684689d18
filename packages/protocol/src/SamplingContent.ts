/**
 * What messages of a model are made of: text, pictures and sound as everywhere, and the tools that it wants used and
 * what came of them. What a revision does not know is told to its peers as text.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Schema from "effect/Schema"
import { AudioContent, ContentBlock, ImageContent, inWords, TextContent } from "./Content.js"
import { JsonObject, JsonValue } from "./Json.js"
import * as Meta from "./Meta.js"
import { onlyIfUntil, sinceOtherwise } from "./schema/Since.js"

/**
 * The model wants a tool used.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolUseContent extends Schema.Schema.Type<typeof ToolUseContent> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ToolUseContent = Schema.Struct({
  type: Schema.Literal("tool_use"),
  /** What its result names. */
  id: Schema.String,
  name: Schema.String,
  input: JsonObject,
  ...Meta.any
})

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * What came of the use of a tool.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolResultContent extends Schema.Schema.Type<typeof ToolResultContent> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ToolResultContent = Schema.Struct({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(ContentBlock),
  /** An object up to 2025-11-25. */
  structuredContent: onlyIfUntil("2025-11-25", isObject, Schema.optional(JsonValue)),
  isError: Schema.optional(Schema.Boolean),
  ...Meta.any
})

/**
 * @since 0.1.0
 * @category models
 */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

const useInWords = ({ input, name }: ToolUseContent): TextContent =>
  inWords(`[tool use: ${name}] ${Json.stringify(input) ?? "{}"}`)

const resultInWords = ({ content, isError }: ToolResultContent): TextContent =>
  inWords([isError === true ? "[tool error]" : "[tool result]", ...content.map(wordsOf)].join("\n"))

const wordsOf = (block: ContentBlock | SamplingContent): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource] ${block.resource.uri}`
    case "resource_link":
      return `[resource: ${block.name}] ${block.uri}`
    case "tool_use":
      return useInWords(block).text
    case "tool_result":
      return resultInWords(block).text
    default:
      return `[${block.type}: ${block.mimeType}]`
  }
}

/**
 * One block.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SamplingBlock: Schema.Schema<SamplingContent> = Schema.Union(
  TextContent,
  ImageContent,
  sinceOtherwise("2025-03-26", AudioContent, (audio) => inWords(wordsOf(audio), audio)),
  sinceOtherwise("2025-11-25", ToolUseContent, useInWords),
  sinceOtherwise("2025-11-25", ToolResultContent, resultInWords)
)

/**
 * Any number of blocks.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SamplingBlocks: Schema.Schema<ReadonlyArray<SamplingContent>> = Schema.Array(SamplingBlock)

/**
 * The content of a message as one block: the only one, or all of them in words.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inOneBlock = (content: SamplingContent | ReadonlyArray<SamplingContent>): SamplingContent => {
  if (!Array.isArray(content)) return content as SamplingContent
  const blocks = content as ReadonlyArray<SamplingContent>
  return blocks.length === 1 ? blocks[0]! : inWords(blocks.map(wordsOf).join("\n"))
}
