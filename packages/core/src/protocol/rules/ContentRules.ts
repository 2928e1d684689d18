/**
 * Checks the rules of content that the schemas cannot express. The data of images, audio and blobs must be base64, and a media type must
 * have a type and a subtype. `server/features/Prompts` and `server/features/Resources` check contents by these rules, and
 * `definition/ToolResult` checks the results of tools.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#image-content
 */
import type { ContentBlock } from "../Content.js"

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/

/** Whether a text is base64 with padding, as section 4 of RFC 4648 defines it. */
export const isBase64 = (text: string): boolean => text.length % 4 === 0 && alphabet.test(text)

export const isMediaType = (text: string): boolean => mediaType.test(text)

/**
 * Returns the first rule that a content block breaks; `undefined` when the block breaks no rule. The text does not contain the invalid
 * value.
 */
export const problem = (block: ContentBlock): string | undefined => {
  switch (block.type) {
    case "image":
    case "audio":
      return isBase64(block.data)
        ? ofMediaType(block.mimeType)
        : `the data of the ${block.type} is not base64`
    case "resource":
      return "blob" in block.resource && !isBase64(block.resource.blob)
        ? "the blob of the resource is not base64"
        : ofMediaType(block.resource.mimeType)
    default:
      return undefined
  }
}

const ofMediaType = (type: string | undefined): string | undefined =>
  type === undefined || isMediaType(type)
    ? undefined
    : `the media type is not a type and a subtype, such as "image/png"`
