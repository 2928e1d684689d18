/**
 * The types of roots: the folders in which a server may work, as the client tells the server. `rules/FileUri` says which URIs may be roots,
 * and splits the path of a URI into names.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"
import { since, until } from "./schema/Since.js"
import { Uri } from "./schema/TextFormats.js"

/** @category models */
export interface Root extends Schema.Schema.Type<typeof Root> {}

/** @category schemas */
export const Root = Schema.Struct({
  /** The URI of the folder, which begins with `file://`. */
  uri: Uri,
  name: Schema.optional(Schema.String),
  _meta: since("2025-06-18", Meta.any._meta)
})

/** @category models */
export interface ListRootsResult extends Schema.Schema.Type<typeof ListRootsResult> {}

/** @category schemas */
export const ListRootsResult = Schema.Struct({
  roots: Schema.Array(Root),
  _meta: until("2025-11-25", Meta.any._meta)
})
