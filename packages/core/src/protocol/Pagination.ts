/**
 * Lists in pages: an opaque cursor marks where the next page begins. Only the server that made a cursor reads it; the
 * client sends it back unchanged. The lists of `Tools`, `Prompts`, `Resources` and `Tasks` have these fields.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"

/** @category models */
export interface PaginatedParams extends Schema.Schema.Type<typeof PaginatedParams> {}

/** @category schemas */
export const PaginatedParams = Schema.Struct({ cursor: Schema.optional(Schema.String), ...Meta.request })

/**
 * The fields that a list result has beside its list.
 *
 * @category constants
 */
export const pageFields = {
  /** Where the next page begins; absent on the last page. */
  nextCursor: Schema.optional(Schema.String),
  ...Meta.any
}
