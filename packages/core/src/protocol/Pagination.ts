/**
 * The fields of requests for lists, and of their results. A server may send a list in several pages. A cursor marks where the next page
 * begins. Only the server that made a cursor can read the cursor. The client sends the cursor back unchanged. The lists of `Tools`,
 * `Prompts`, `Resources` and `Tasks` have these fields.
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
 * The fields of the result of a list request, except the list.
 *
 * @category constants
 */
export const pageFields = {
  /** The cursor of the next page; absent on the last page. */
  nextCursor: Schema.optional(Schema.String),
  ...Meta.any
}
