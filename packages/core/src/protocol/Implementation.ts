/**
 * The name and version with which clients and servers introduce themselves, and the icons that many types have. Applications only show
 * names, versions and icons to people. No behaviour may depend on these values.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { absentAs, harmless, sieved } from "./schema/Mendable.js"
import { since } from "./schema/Since.js"
import { Uri } from "./schema/TextFormats.js"

/**
 * Whether the scheme of a URI is not `https:`, `http:` or `data:`. A host application that loads or opens a URI with another scheme could
 * run a program (`javascript:`) or read a file. A relative URI is safe.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#icons
 * @category guards
 */
export const isUnsafe = (uri: string): boolean => {
  if (/^(?:https?|data):/i.test(uri)) return false
  // Browsers skip white space and control characters in a scheme.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(uri.replace(/[\p{Cc}\s]/gu, ""))?.[1]?.toLowerCase()
  return scheme !== undefined && scheme !== "https" && scheme !== "http" && scheme !== "data"
}

// A client leaves out each icon and link that has a URI of another scheme.
const SafeUri = Uri.pipe(Schema.filter((uri) => !isUnsafe(uri) || "its scheme is not https:, http: or data:"))

/**
 * An image: its URI (`https:` or `data:`), its media type, its sizes (`48x48`, `any`) and its theme.
 *
 * @category models
 */
export interface Icon extends Schema.Schema.Type<typeof Icon> {}

/** @category schemas */
export const Icon = Schema.Struct({
  src: SafeUri,
  mimeType: harmless(Schema.optional(Schema.String)),
  sizes: harmless(Schema.optional(Schema.Array(Schema.String))),
  theme: harmless(Schema.optional(Schema.Literal("light", "dark")))
})

/**
 * The fields with the name that programs use and the title that people read.
 *
 * @category constants
 */
export const nameFields = {
  name: Schema.String,
  title: since("2025-06-18", harmless(Schema.optional(Schema.String)))
}

/** @category constants */
export const iconFields = {
  icons: since("2025-11-25", harmless(Schema.optional(sieved(Schema.Array(Icon)))))
}

/** @category models */
export interface Implementation extends Schema.Schema.Type<typeof Implementation> {}

/** @category schemas */
export const Implementation = Schema.Struct({
  ...nameFields,
  ...iconFields,
  name: harmless(absentAs("", Schema.String)),
  version: harmless(absentAs("", Schema.String)),
  description: since("2025-11-25", harmless(Schema.optional(Schema.String))),
  websiteUrl: since("2025-11-25", harmless(Schema.optional(SafeUri)))
})

/**
 * The name and version of a client. The URIs may have any scheme: a server does not refuse a client because of an icon or a link.
 *
 * @category schemas
 */
export const ClientImplementation: Schema.Schema<Implementation> = Schema.Struct({
  ...Implementation.fields,
  icons: since("2025-11-25", Schema.optional(Schema.Array(Schema.Struct({ ...Icon.fields, src: Uri })))),
  websiteUrl: since("2025-11-25", Schema.optional(Uri))
})
