/**
 * Schemas of arbitrary JSON, for members whose content the protocol does not define, and a schema of JSON integers.
 * `jsonrpc/runtime/JsonText` parses JSON text.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** @category models */
export interface JsonObject {
  readonly [key: string]: unknown
}

/**
 * The name of a member that a peer has chosen.
 *
 * @category schemas
 */
export const Key: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.string({ maxLength: 12 }).filter((key) => key !== "__proto__")
})

/** @category schemas */
export const JsonObject: Schema.Schema<JsonObject> = Schema.Record({ key: Schema.String, value: Schema.Unknown })
  .annotations({
    identifier: "JsonObject",
    arbitrary: () => (fc) =>
      fc.dictionary(fc.string().filter((key) => key !== "__proto__"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  })

/**
 * Any JSON value, also `null`. `undefined` is not a JSON value.
 *
 * @category schemas
 */
export const JsonValue: Schema.Schema<unknown> = Schema.Unknown.pipe(
  Schema.filter(Predicate.isNotUndefined, {
    identifier: "JsonValue",
    arbitrary: () => (fc) => fc.jsonValue({ maxDepth: 2 })
  })
)

/**
 * An integer of any size. A peer may send a number that is not a safe integer, and `Schema.Int` would refuse that number.
 *
 * @category schemas
 */
export const Integer: Schema.Schema<number> = Schema.Number.pipe(
  Schema.filter((n) => Number.isInteger(n), {
    description: "an integer",
    arbitrary: () => (fc) => fc.integer()
  })
)
