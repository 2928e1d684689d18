/**
 * Any JSON, as schemas, for the places where the protocol leaves the content to others.
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
 * @since 0.1.0
 * @category schemas
 */
export const JsonValue: Schema.Schema<unknown> = Schema.Unknown.annotations({
  identifier: "JsonValue",
  arbitrary: () => (fc) => fc.jsonValue({ maxDepth: 2 })
})

/**
 * An object whose presence is what it says: a capability without settings.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Presence: Schema.Schema<JsonObject> = JsonObject
