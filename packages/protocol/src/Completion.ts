/**
 * The words of completion: a client shows what has been typed so far of an argument of a prompt, or of a variable of a
 * resource template, and a server suggests what it may become.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Integer, Key } from "./Json.js"
import * as Meta from "./Meta.js"
import { rewritten, since } from "./schema/Since.js"
import { UriTemplate } from "./schema/Text.js"

/**
 * How many values may be suggested at once.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_VALUES = 100

/**
 * @since 0.1.0
 * @category models
 */
export interface PromptReference extends Schema.Schema.Type<typeof PromptReference> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const PromptReference = Schema.Struct({
  type: Schema.Literal("ref/prompt"),
  name: Schema.String,
  title: since("2025-06-18", Schema.optional(Schema.String))
})

/**
 * A resource template by its text, or a resource by its address.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResourceTemplateReference extends Schema.Schema.Type<typeof ResourceTemplateReference> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ResourceTemplateReference = Schema.Struct({ type: Schema.Literal("ref/resource"), uri: UriTemplate })

/**
 * @since 0.1.0
 * @category models
 */
export interface CompleteParams extends Schema.Schema.Type<typeof CompleteParams> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const CompleteParams = Schema.Struct({
  ref: Schema.Union(PromptReference, ResourceTemplateReference),
  argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
  /** What the other arguments are already. */
  context: since(
    "2025-06-18",
    Schema.optional(Schema.Struct({
      arguments: Schema.optional(Schema.Record({ key: Key, value: Schema.String }))
    }))
  ),
  ...Meta.request
})

/**
 * @since 0.1.0
 * @category models
 */
export interface Suggestions extends Schema.Schema.Type<typeof Suggestions> {}

/**
 * Values by relevance. Peers that say more than a hundred are heard out; we never say more.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Suggestions = Schema.Struct({
  values: Schema.Array(Schema.String),
  /** How many there are, said or not. */
  total: Schema.optional(Integer),
  hasMore: Schema.optional(Schema.Boolean)
})

/**
 * As many as may be said, and that there are more.
 *
 * @since 0.1.0
 * @category combinators
 */
export const limited = (suggestions: Suggestions): Suggestions => {
  const { total, values } = suggestions
  return values.length <= MAX_VALUES
    ? suggestions
    : { values: values.slice(0, MAX_VALUES), total: total ?? values.length, hasMore: true }
}

/**
 * @since 0.1.0
 * @category models
 */
export interface CompleteResult extends Schema.Schema.Type<typeof CompleteResult> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const CompleteResult = Schema.Struct({
  completion: rewritten({}, limited, Schema.propertySignature(Suggestions)),
  ...Meta.any
})
