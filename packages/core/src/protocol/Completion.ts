/**
 * The types of completion. A client sends the beginning of a value, for an argument of a prompt or for a variable of a resource template.
 * The server suggests whole values.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Integer, Key } from "./Json.js"
import * as Meta from "./Meta.js"
import { harmless, nullAs, sieved } from "./schema/Mendable.js"
import { rewritten, since } from "./schema/Since.js"
import { UriTemplate } from "./schema/TextFormats.js"

/** How many values one result may suggest. */
const MAX_VALUES = 100

/** @category models */
export interface PromptReference extends Schema.Schema.Type<typeof PromptReference> {}

/** @category schemas */
export const PromptReference = Schema.Struct({
  type: Schema.Literal("ref/prompt"),
  name: Schema.String,
  title: since("2025-06-18", Schema.optional(Schema.String))
})

/**
 * A reference to a resource template by the text of the template, or to a resource by its URI.
 *
 * @category models
 */
export interface ResourceTemplateReference extends Schema.Schema.Type<typeof ResourceTemplateReference> {}

/** @category schemas */
export const ResourceTemplateReference = Schema.Struct({ type: Schema.Literal("ref/resource"), uri: UriTemplate })

/** @category models */
export interface CompleteParams extends Schema.Schema.Type<typeof CompleteParams> {}

/** @category schemas */
export const CompleteParams = Schema.Struct({
  ref: Schema.Union(PromptReference, ResourceTemplateReference),
  argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
  /** The values that other arguments already have. */
  context: since(
    "2025-06-18",
    Schema.optional(Schema.Struct({
      arguments: Schema.optional(Schema.Record({ key: Key, value: Schema.String }))
    }))
  ),
  ...Meta.request
})

/** @category models */
export interface Suggestions extends Schema.Schema.Type<typeof Suggestions> {}

/**
 * Suggested values, the most relevant first. A peer may send more than `MAX_VALUES` (100) values.
 *
 * @category schemas
 */
export const Suggestions = Schema.Struct({
  values: nullAs([], sieved(Schema.Array(Schema.String))),
  /** How many values exist, including values that this result does not have. */
  total: harmless(Schema.optional(Integer)),
  hasMore: harmless(Schema.optional(Schema.Boolean))
})

/**
 * Returns the first `MAX_VALUES` (100) suggestions. Sets `hasMore` to `true` when more suggestions exist.
 *
 * @category utils
 */
export const truncate = (suggestions: Suggestions): Suggestions => {
  const { total, values } = suggestions
  return values.length <= MAX_VALUES
    ? suggestions
    : { values: values.slice(0, MAX_VALUES), total: total ?? values.length, hasMore: true }
}

/** @category models */
export interface CompleteResult extends Schema.Schema.Type<typeof CompleteResult> {}

/** @category schemas */
export const CompleteResult = Schema.Struct({
  completion: rewritten({}, truncate, Schema.propertySignature(Suggestions)),
  ...Meta.any
})
