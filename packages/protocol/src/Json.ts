/**
 * Any JSON, as schemas, for the places where the protocol leaves the content to others, and the numbers of JSON. How text
 * becomes a value is the business of `@effect-mcp/jsonrpc/Json`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * @since 0.1.0
 * @category models
 */
export interface JsonObject {
  readonly [key: string]: unknown
}

/**
 * The name of a member, where others choose it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Key: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.string({ maxLength: 12 }).filter((key) => key !== "__proto__")
})

/**
 * @since 0.1.0
 * @category schemas
 */
export const JsonObject: Schema.Schema<JsonObject> = Schema.Record({ key: Schema.String, value: Schema.Unknown })
  .annotations({
    identifier: "JsonObject",
    arbitrary: () => (fc) =>
      fc.dictionary(fc.string().filter((key) => key !== "__proto__"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  })

/**
 * Anything, `null` too, but not nothing.
 *
 * @since 0.1.0
 * @category schemas
 */
export const JsonValue: Schema.Schema<unknown> = Schema.Unknown.pipe(
  Schema.filter((u): boolean => u !== undefined, {
    identifier: "JsonValue",
    arbitrary: () => (fc) => fc.jsonValue({ maxDepth: 2 })
  })
)

/**
 * An object whose presence is what it says: a capability without settings.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Presence: Schema.Schema<JsonObject> = JsonObject

/**
 * A whole number, of any size: what a peer counts may be more than we could.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Integer: Schema.Schema<number> = Schema.Number.pipe(
  Schema.filter((n) => Number.isInteger(n), {
    description: "an integer",
    arbitrary: () => (fc) => fc.integer()
  })
)
