/**
 * Who speaks: the name and version that clients and servers tell each other, and the icons that stand for many things.
 * For people to read; nothing may depend on it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { since } from "./schema/Since.js"
import { Uri } from "./schema/Text.js"

/**
 * A picture: an `https:` or `data:` address, its type, the sizes it is good for (`48x48`, `any`) and the theme it is for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Icon extends Schema.Schema.Type<typeof Icon> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const Icon = Schema.Struct({
  src: Uri,
  mimeType: Schema.optional(Schema.String),
  sizes: Schema.optional(Schema.Array(Schema.String)),
  theme: Schema.optional(Schema.Literal("light", "dark"))
})

/**
 * What named things have in common: the name programs use, and the title people read.
 *
 * @since 0.1.0
 * @category fields
 */
export const named = {
  name: Schema.String,
  title: since("2025-06-18", Schema.optional(Schema.String))
}

/**
 * @since 0.1.0
 * @category fields
 */
export const icons = {
  icons: since("2025-11-25", Schema.optional(Schema.Array(Icon)))
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Implementation extends Schema.Schema.Type<typeof Implementation> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const Implementation = Schema.Struct({
  ...named,
  ...icons,
  version: Schema.String,
  description: since("2025-11-25", Schema.optional(Schema.String)),
  websiteUrl: since("2025-11-25", Schema.optional(Uri))
})
