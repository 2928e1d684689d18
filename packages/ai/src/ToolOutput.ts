/**
 * Makes the output of a tool call for a model: text, images and audio, of limited size. A link to a resource becomes a text with the URI.
 * An embedded resource becomes its text, its image or its audio; for other embedded resources a text has the URI and the size. Structured
 * content becomes JSON text when the tool has sent no other content, or only blank text. For a call that has failed without a result, the
 * output is a sentence.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
import type { ContentBlock, ResourceContents } from "@effect-mcp/core/protocol/Content"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import * as Either from "effect/Either"
import * as ModelMedia from "./text/ModelMedia.js"
import { wellFormed, wellFormedJson } from "./text/ModelText.js"

/**
 * A part of an output. `data` is in base64.
 *
 * @category models
 */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | { readonly type: "audio"; readonly data: string; readonly mimeType: string }

/**
 * The output of a call, in parts that a model can read.
 *
 * @category models
 */
export interface ToolOutput {
  /** `true` when the tool has failed, or when it could not be called. */
  readonly isError: boolean
  readonly parts: ReadonlyArray<Part>
  /** The text of all parts. In place of an image or audio there is a short text, such as `[image: image/png]`. */
  readonly text: string
  /**
   * The structured content of the result, for your program. It is `undefined` when the result has no structured content. The model reads
   * `parts`, not this member.
   */
  readonly structured: unknown
}

/**
 * The limits of an output: the options of `make`.
 *
 * @category models
 */
export interface Options {
  /**
   * The most characters of text in one output. `make` cuts longer text, and adds a text with the number of missing characters. Default:
   * 100,000.
   */
  readonly maxText?: number | undefined
  /**
   * The most characters of base64 that all images and audio of one output have together. `make` replaces further images and audio by a
   * text. Default: 5,000,000 characters, which is an image of 3.7 MB.
   */
  readonly maxData?: number | undefined
  /**
   * The media types of images and audio that the model can read. `make` replaces images and audio of other types by a text. Synonyms of a
   * media type are equal, such as `image/jpg` and `image/jpeg`. Default: PNG, JPEG, GIF and WebP.
   */
  readonly mediaTypes?: ReadonlyArray<string> | undefined
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"]

/** The most images and audio files of one output. The APIs of models refuse a request with more images. */
const MAX_MEDIA = 100

/**
 * For each part of a result, the limit `maxText` counts this many characters in addition to the text. So the number of parts is limited,
 * too.
 */
const COST_OF_PART = 16

/**
 * Makes the output from the result of a tool call. The output does not contain content whose annotations say that it is only for the user.
 *
 * @category constructors
 */
export const make = (result: CallToolResult, options: Options = {}): ToolOutput => {
  const { maxData = 5_000_000, maxText = 100_000, mediaTypes = IMAGES } = options
  const readable = mediaTypes.map(ModelMedia.typeOf)
  let data = maxData
  let left = maxText
  let media = 0
  let omitted = 0
  const parts: Array<Part> = []
  const addText = (text: string) => {
    const kept = wellFormed(text.slice(0, Math.max(0, left)))
    left -= text.length + COST_OF_PART
    omitted += text.length - kept.length
    // The APIs of models refuse an empty or blank text.
    if (kept.trim() !== "") parts.push({ type: "text", text: kept })
  }
  const add = (part: Part) => {
    if (part.type === "text") return addText(part.text)
    const { type } = part
    const read = ModelMedia.make(part.data, part.mimeType)
    if (Either.isLeft(read.data)) return addText(`[${type}: ${shown(read.mimeType)}, left out: ${read.data.left}]`)
    const found = { type, mimeType: read.mimeType, data: read.data.right }
    if (!readable.includes(found.mimeType)) return addText(named(found, "the model does not read this kind"))
    if (found.data === "") return addText(named(found, "it is empty"))
    if (found.data.length > data) return addText(named(found, "it is too large"))
    if (media === MAX_MEDIA) return addText(named(found, `there are more than ${MAX_MEDIA}`))
    data -= found.data.length
    media++
    parts.push(found)
  }
  const forModel = result.content.filter(({ annotations }) => annotations?.audience?.includes("assistant") !== false)
  for (const block of forModel) add(partOf(block))
  const { structuredContent } = result
  // Some servers send blank text, or no text, beside structured content, and null when there is no structured content.
  if (parts.length === 0 && omitted === 0 && structuredContent !== undefined && structuredContent !== null) {
    addText(json(structuredContent))
  }
  if (parts.length === 0 && omitted === 0) {
    addText(result.isError === true ? "The tool failed without a message." : "The tool returned nothing.")
  }
  if (omitted > 0) {
    parts.push({ type: "text", text: `[${omitted} more characters are left out: the result of the tool is too long]` })
  }
  return {
    isError: result.isError === true,
    parts,
    text: parts.map((part) => part.type === "text" ? part.text : `[${part.type}: ${part.mimeType}]`).join("\n"),
    structured: result.structuredContent
  }
}

/**
 * Makes the output of a call that has failed without a result. `message` is the text for the model.
 *
 * @category utils
 */
export const failure = (message: string): ToolOutput => {
  const { parts, text } = make({ content: [{ type: "text", text: message }] }, { maxText: 2_000 })
  return { isError: true, parts, text, structured: undefined }
}

const partOf = (block: ContentBlock): Part => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType }
    case "resource_link": {
      const about = [block.title ?? block.name, block.mimeType, block.description].filter((text) => text !== undefined)
      return { type: "text", text: `[resource ${block.uri}: ${about.join(", ")}]` }
    }
    case "resource":
      return resourcePart(block.resource)
  }
}

const resourcePart = (resource: ResourceContents): Part => {
  if ("text" in resource) return { type: "text", text: `[resource ${resource.uri}]\n${resource.text}` }
  const mimeType = ModelMedia.typeOf(resource.mimeType ?? "application/octet-stream")
  return /^(image|audio)\//.test(mimeType)
    ? { type: mimeType.startsWith("image") ? "image" : "audio", data: resource.blob, mimeType }
    : { type: "text", text: `[resource ${resource.uri}: ${mimeType}, ${bytes(resource.blob)} bytes]` }
}

const bytes = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor((base64.length - padding) * 0.75)
}

const named = (part: Exclude<Part, { type: "text" }>, reason: string): string =>
  `[${part.type}: ${shown(part.mimeType)}, ${bytes(part.data)} bytes, left out: ${reason}]`

const shown = (mimeType: string): string => mimeType.slice(0, 100)

const json = (value: unknown): string => JSON.stringify(value) ?? "null"

/**
 * Returns the output as one JSON value, for APIs that encode this value as JSON again. When the text of the output is the JSON of an object
 * or a list, the function returns the parsed value. This is usual for structured content. For any other text the function returns the text.
 *
 * @category utils
 */
export const value = ({ text }: ToolOutput): unknown =>
  /^\s*[[{]/.test(text)
    ? Either.getOrElse(Either.try(() => wellFormedJson(JSON.parse(text) as unknown)), () => text)
    : text

/**
 * Returns the content of a `tool_result` in Anthropic's Messages API. A short text replaces audio. For a failed call the API accepts only
 * text, so a short text replaces images, too.
 *
 * @category utils
 */
export const anthropic = (
  { isError, parts }: ToolOutput
): { readonly is_error: boolean; readonly content: ReadonlyArray<JsonObject> } => ({
  is_error: isError,
  content: parts.map((part) =>
    part.type === "image" && !isError
      ? { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } }
      : { type: "text", text: part.type === "text" ? part.text : `[${part.type}: ${part.mimeType}]` }
  )
})

/**
 * Returns the `content` of a `tool` message in OpenAI's Chat Completions API. This content is always text.
 *
 * @category utils
 */
export const openai = ({ isError, text }: ToolOutput): string => isError ? `Error: ${text}` : text

/**
 * Returns the `response` of a `functionResponse` in the Gemini API.
 *
 * @category utils
 */
export const gemini = ({ isError, text }: ToolOutput): JsonObject => isError ? { error: text } : { output: text }
