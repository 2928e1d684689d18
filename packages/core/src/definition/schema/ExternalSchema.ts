/**
 * Schemas that Effect did not make (JSON Schema, Standard Schema), for use as Effect schemas. `make` gives an Effect schema that checks
 * with the functions of another validator, `toIssue` turns the errors of that validator into the issues that Effect's own parser would
 * report, and `copy` takes the JSON Schema to advertise.
 *
 * `RawTool` and `StandardTool` make such schemas; `JsonSchemaValidator` checks for the first, another library for the second.
 * `KeywordCheck` and `JsonSchemaValidator` report errors as this module's `SchemaError`.
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
 * The most errors reported for one value; the longest JSON text of an advertised schema, in characters; and its deepest nesting. A schema
 * may nest less deeply than a message, because a message lists the schema some levels deep.
 */
export const limits = { errors: 20, size: 262_144, depth: 56 } as const

/** Why a value does not conform, and where; the path is empty for the value itself. */
export interface SchemaError {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

/** One issue for all errors of a value. */
export const toIssue = (errors: ReadonlyArray<SchemaError>, actual: unknown): ParseIssue =>
  Issue.ofErrors(errors.slice(0, limits.errors), actual)

/** Checks a value, now or later: yields the value, possibly converted, or an issue. */
export type Parse<A> = (u: unknown) => Effect.Effect<A, ParseIssue>

/** An Effect schema that decodes and encodes with these functions. */
export const make = <A>(
  parsers: { readonly decode: Parse<A>; readonly encode: Parse<unknown> }
): Schema.Schema<A, any> =>
  Schema.declare([], { decode: () => parsers.decode, encode: () => parsers.encode as Parse<any> })

/**
 * A copy of a JSON Schema to advertise; changing the original later does not change the copy. Left: why the schema is
 * refused, as the end of a sentence whose subject is the schema: it is not an object or not JSON, or exceeds `limits`.
 */
export const copy = (schema: unknown): Either.Either<JsonObject, string> => {
  const text = Predicate.isRecord(schema) ? JsonText.stringify(schema) : undefined
  if (text === undefined) return Either.left(problems.syntax)
  if (text.length > limits.size) return Either.left(`is longer than ${limits.size} characters`)
  const copied = JsonText.parse(text, limits.depth)
  return copied instanceof JsonText.Refused
    ? Either.left(problems[copied.reason])
    // An object with a `toJSON` method may be written as something else.
    : Either.filterOrLeft(Either.right(copied), Predicate.isRecord, () => problems.syntax)
}

const problems = {
  syntax: "is not a JSON Schema: it must be an object that JSON can represent",
  depth: `is nested more than ${limits.depth} levels deep`,
  prototype: `has a member named "__proto__"`
}
