/**
 * Turns schemas that Effect did not make (JSON Schema, Standard Schema) into Effect schemas. `make` returns an Effect schema that checks
 * values with the functions of another validator. `toIssue` turns the errors of this validator into the issues that Effect's own parser
 * would report. `copy` copies the JSON Schema that clients get.
 *
 * `RawTool` and `StandardTool` make such schemas. `JsonSchemaValidator` validates for `RawTool`, and another library validates for
 * `StandardTool`. `KeywordCheck` and `JsonSchemaValidator` report errors as this module's `SchemaError`.
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { ParseIssue } from "../../protocol/McpError.js"

/**
 * `errors`: how many errors are reported for one value. `size`: how many characters the JSON text of a schema may have. `depth`: how deep
 * the schema may nest. This limit is lower than the limit for a message, because the schema is inside of a message.
 */
export const limits = { errors: 20, size: 262_144, depth: 56 } as const

/** Why a value does not conform, and at which place. The path is empty for the value itself. */
export interface SchemaError {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

/** Makes one issue from all errors of a value. */
export const toIssue = (errors: ReadonlyArray<SchemaError>, actual: unknown): ParseIssue =>
  Issue.ofErrors(errors.slice(0, limits.errors), actual)

/** Checks a value, at once or later. Returns the value, which may be converted, or an issue. */
export type Parse<A> = (u: unknown) => Effect.Effect<A, ParseIssue>

/** Makes an Effect schema that decodes and encodes values with these functions. */
export const make = <A>(
  parsers: { readonly decode: Parse<A>; readonly encode: Parse<unknown> }
): Schema.Schema<A, any> =>
  Schema.declare([], { decode: () => parsers.decode, encode: () => parsers.encode as Parse<any> })

/**
 * Copies a JSON Schema for clients. Later changes of the original do not change the copy. Left: why the schema is refused, as the end of a
 * sentence whose subject is the schema. A schema is refused when it is not an object, is not JSON, or exceeds `limits`.
 */
export const copy = (schema: unknown): Either.Either<JsonObject, string> => {
  const text = Predicate.isRecord(schema) ? JsonText.stringify(schema) : undefined
  if (text === undefined) return Either.left(problems.syntax)
  if (text.length > limits.size) return Either.left(`is longer than ${limits.size} characters`)
  const copied = JsonText.parse(text, limits.depth)
  return copied instanceof JsonText.Refused
    ? Either.left(problems[copied.reason])
    // An object with a `toJSON` method may be written as a value that is not an object.
    : Either.filterOrLeft(Either.right(copied), Predicate.isRecord, () => problems.syntax)
}

const problems = {
  syntax: "is not a JSON Schema: it must be an object that JSON can represent",
  depth: `is nested more than ${limits.depth} levels deep`,
  prototype: `has a member named "__proto__"`
}
