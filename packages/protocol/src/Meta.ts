/**
 * `_meta`: what travels beside the content of any message, open to everybody. The keys that the specification reserves
 * are named here; all others are kept as they come.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject } from "./Json.js"

/**
 * A string or an integer that names a request or its progress.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RequestId: Schema.Union<[typeof Schema.String, typeof Schema.Int]> = Schema.Union(
  Schema.String,
  Schema.Int
)

/**
 * @since 0.1.0
 * @category models
 */
export interface Meta extends JsonObject {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const Meta: Schema.Schema<Meta> = JsonObject

/**
 * `_meta` of a request: it may ask for progress, under a token of the sender's.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestMeta extends Meta {
  readonly progressToken?: string | number | undefined
}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RequestMeta: Schema.Schema<RequestMeta> = Schema.Struct(
  { progressToken: Schema.optional(RequestId) },
  { key: Schema.String, value: Schema.Unknown }
).annotations({
  arbitrary: () => (fc) => fc.record({ progressToken: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] })
})

/**
 * The field that every request has for it.
 *
 * @since 0.1.0
 * @category fields
 */
export const request: { readonly _meta: Schema.optional<Schema.Schema<RequestMeta>> } = {
  _meta: Schema.optional(RequestMeta)
}

/**
 * The field that notifications, results and most types have for it.
 *
 * @since 0.1.0
 * @category fields
 */
export const any: { readonly _meta: Schema.optional<Schema.Schema<Meta>> } = { _meta: Schema.optional(Meta) }
