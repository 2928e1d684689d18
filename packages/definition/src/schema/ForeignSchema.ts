/**
 * A schema that Effect did not make, as one of Effect's: a check that says what it refuses, at once or later. What is wrong
 * with a value becomes the issue that Effect's parser would have given, so that nobody who prints one knows the difference.
 *
 * Who checks is in `JsonSchemaValidator` and `StandardTool`.
 *
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * How much of what is refused is said; how long the JSON of an advertised schema may be, in characters; and how deep it may
 * be, so that the message that lists it is no deeper than peers take.
 *
 * @since 0.1.0
 * @category limits
 */
export const limits = { refusals: 20, size: 262_144, depth: 56 } as const

/**
 * A place where a value does not conform, and why.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  /** Empty for the value itself. */
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

/**
 * What was refused of a value, as an issue.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toIssue = (refusals: ReadonlyArray<Refusal>, actual: unknown): ParseResult.ParseIssue => {
  const issues = refusals.slice(0, limits.refusals).map((refusal) => issueOf(refusal, actual))
  return Arr.isNonEmptyReadonlyArray(issues)
    ? new ParseResult.Composite(Schema.Unknown.ast, actual, issues)
    : new ParseResult.Type(Schema.Unknown.ast, actual, "does not conform")
}

const issueOf = ({ message, path }: Refusal, actual: unknown): ParseResult.ParseIssue => {
  const type = new ParseResult.Type(Schema.Unknown.ast, at(actual, path), message)
  return Arr.isNonEmptyReadonlyArray(path) ? new ParseResult.Pointer(path, actual, type) : type
}

const at = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value
  )

/**
 * Whether a value conforms: what it is then, or an issue.
 *
 * @since 0.1.0
 * @category models
 */
export type Parse<A> = (u: unknown) => Effect.Effect<A, ParseResult.ParseIssue>

/**
 * Two checks, of what comes from the wire and of what goes there, as a schema.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A>(
  checks: { readonly decode: Parse<A>; readonly encode: Parse<unknown> }
): Schema.Schema<A, any> =>
  Schema.declare([], { decode: () => checks.decode, encode: () => checks.encode as Parse<any> })

/**
 * A JSON Schema that somebody wrote, as it is advertised: a copy, which does not change when the original does. Or what is
 * wrong with it, as the rest of a sentence that begins with the schema: no object, no JSON, more or deeper than `limits`.
 *
 * @since 0.1.0
 * @category conversions
 */
export const copy = (schema: unknown): Either.Either<JsonObject, string> => {
  const text = Predicate.isRecord(schema) ? Json.stringify(schema) : undefined
  if (text === undefined) return Either.left(problems.syntax)
  if (text.length > limits.size) return Either.left(`is longer than ${limits.size} characters`)
  const copied = Json.parse(text, limits.depth)
  return copied instanceof Json.Refused
    ? Either.left(problems[copied.reason])
    // What a record is written as is a record again, unless it says otherwise.
    : Either.filterOrLeft(Either.right(copied), Predicate.isRecord, () => problems.syntax)
}

const problems = {
  syntax: "is no JSON Schema: it must be an object, and JSON",
  depth: `is nested more than ${limits.depth} levels deep`,
  prototype: `has a member named "__proto__"`
}
