/**
 * The content of messages, tool results and prompts: text, images, audio, links to resources and embedded resources. Base64 data stays
 * text. When the revision of a peer does not have a kind of content, `Projection` replaces the content with text. `Tools`, `Prompts`,
 * `Sampling` and `Resources` have the messages that contain content.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { iconFields, nameFields } from "./Implementation.js"
import { Integer } from "./Json.js"
import * as Meta from "./Meta.js"
import { harmless } from "./schema/Mendable.js"
import { replacedBefore, since } from "./schema/Since.js"
import { Base64, Uri } from "./schema/TextFormats.js"

/** @category schemas */
export const Role: Schema.Literal<["user", "assistant"]> = Schema.Literal("user", "assistant")

/** @category models */
export type Role = typeof Role.Type

/**
 * Annotations of content: for whom the content is (`audience`), how important the content is (`priority`, from 0 to 1), and when it was
 * last modified (`lastModified`, ISO 8601).
 *
 * @category models
 */
export interface Annotations extends Schema.Schema.Type<typeof Annotations> {}

/** @category schemas */
export const Annotations = Schema.Struct({
  audience: harmless(Schema.optional(Schema.Array(Role))),
  priority: harmless(Schema.optional(Schema.Number.pipe(Schema.between(0, 1)))),
  lastModified: since("2025-06-18", harmless(Schema.optional(Schema.String)))
})

const annotated = { annotations: harmless(Schema.optional(Annotations)) }
const meta = { _meta: since("2025-06-18", Meta.any._meta) }

/** @category models */
export interface TextContent extends Schema.Schema.Type<typeof TextContent> {}

/** @category schemas */
export const TextContent = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, ...annotated, ...meta })

/** @category models */
export interface ImageContent extends Schema.Schema.Type<typeof ImageContent> {}

/** @category schemas */
export const ImageContent = Schema.Struct({
  type: Schema.Literal("image"),
  data: Base64,
  mimeType: Schema.String,
  ...annotated,
  ...meta
})

/** @category models */
export interface AudioContent extends Schema.Schema.Type<typeof AudioContent> {}

/** @category schemas */
export const AudioContent = Schema.Struct({
  type: Schema.Literal("audio"),
  data: Base64,
  mimeType: Schema.String,
  ...annotated,
  ...meta
})

/** @category models */
export interface TextResourceContents extends Schema.Schema.Type<typeof TextResourceContents> {}

/** @category schemas */
export const TextResourceContents = Schema.Struct({
  uri: Uri,
  mimeType: harmless(Schema.optional(Schema.String)),
  text: Schema.String,
  ...meta
})

/** @category models */
export interface BlobResourceContents extends Schema.Schema.Type<typeof BlobResourceContents> {}

/** @category schemas */
export const BlobResourceContents = Schema.Struct({
  uri: Uri,
  mimeType: harmless(Schema.optional(Schema.String)),
  blob: Base64,
  ...meta
})

/** @category models */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** @category schemas */
export const ResourceContents = Schema.Union(TextResourceContents, BlobResourceContents)

/**
 * The fields that describe a resource. `size` is the number of bytes before any encoding.
 *
 * @category constants
 */
export const resourceFields = {
  ...nameFields,
  ...iconFields,
  uri: Uri,
  description: harmless(Schema.optional(Schema.String)),
  mimeType: harmless(Schema.optional(Schema.String)),
  size: harmless(Schema.optional(Integer)),
  ...annotated,
  ...meta
}

/**
 * A link to a resource that the client can read. The message has the link in place of the content of the resource.
 *
 * @category models
 */
export interface ResourceLink extends Schema.Schema.Type<typeof ResourceLink> {}

/** @category schemas */
export const ResourceLink = Schema.Struct({ type: Schema.Literal("resource_link"), ...resourceFields })

/** @category models */
export interface EmbeddedResource extends Schema.Schema.Type<typeof EmbeddedResource> {}

/** @category schemas */
export const EmbeddedResource = Schema.Struct({
  type: Schema.Literal("resource"),
  resource: ResourceContents,
  ...annotated,
  ...meta
})

/** @category models */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/**
 * A text that replaces content of another kind and keeps its annotations.
 *
 * @category utils
 */
export const asText = (
  text: string,
  { annotations }: { readonly annotations?: Annotations | undefined } = {}
): TextContent => annotations === undefined ? { type: "text", text } : { type: "text", text, annotations }

/** @category schemas */
export const ContentBlock: Schema.Schema<ContentBlock> = Schema.Union(
  TextContent,
  ImageContent,
  replacedBefore("2025-03-26", AudioContent, (audio) => asText(`[audio: ${audio.mimeType}]`, audio)),
  replacedBefore("2025-06-18", ResourceLink, (link) => asText(`[resource: ${link.name}] ${link.uri}`, link)),
  EmbeddedResource
)
