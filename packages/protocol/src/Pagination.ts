/**
 * Lists in pages: an opaque cursor says where the next one begins. Who gives a cursor reads it; everybody else passes it
 * back as it is.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface PaginatedParams extends Schema.Schema.Type<typeof PaginatedParams> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const PaginatedParams = Schema.Struct({ cursor: Schema.optional(Schema.String), ...Meta.request })

/**
 * The fields that the result of a list adds to the list.
 *
 * @since 0.1.0
 * @category fields
 */
export const page = {
  /** Where the next page begins; absent on the last one. */
  nextCursor: Schema.optional(Schema.String),
  ...Meta.any
}
