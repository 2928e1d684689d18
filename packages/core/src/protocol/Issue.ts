/**
 * Explains where and why a value does not conform to a schema. The text is for the peer that sent the value. It has one part for each place
 * of the value that does not conform. `ofErrors` converts the errors of another validator to an issue of Effect's parser.
 *
 * The text never contains a whole value. It says what the schema expects and names the kind of the actual value; it quotes only a short
 * string, a number or a boolean. The search for places stops after ten places and after a fixed number of steps, so the time for a refusal
 * has a limit, whatever the peer sent.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as EffectParser from "./schema/EffectParser.js"
import * as SchemaTree from "./schema/SchemaTree.js"

/** @category models */
export interface Place {
  /** The path of the place, such as `hits.0.title`. The path is the empty string when the whole value does not conform. */
  readonly path: string
  readonly message: string
}

/**
 * The places where a value does not conform, and one line of text about all places.
 *
 * @category models
 */
export interface Explanation {
  readonly sentence: string
  readonly places: ReadonlyArray<Place>
}

/** @category models */
export interface Options {
  /** Whether the text quotes short strings, numbers and booleans of the value. Default: `true`. */
  readonly quotes?: boolean | undefined
}

/**
 * Returns the places where a value does not conform; at most ten.
 *
 * @category utils
 */
export const places = (issue: ParseResult.ParseIssue, { quotes = true }: Options = {}): ReadonlyArray<Place> =>
  EffectParser.places(issue, quotes)

/**
 * Returns one line of text about the places, such as `q: is missing; limit: Expected an integer, actual 1.5`.
 *
 * @category utils
 */
export const sentence = (issue: ParseResult.ParseIssue): string => explain(issue).sentence

/**
 * Returns both the places and the line of text, for answers that have data and a message.
 *
 * @category utils
 */
export const explain = (issue: ParseResult.ParseIssue, options?: Options): Explanation => {
  const found = places(issue, options)
  return {
    places: found,
    sentence: found.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("; ")
  }
}

type Path = ReadonlyArray<PropertyKey>

/**
 * Makes one issue from the errors of a validator that is not part of Effect. An error about the whole value has an empty path.
 *
 * @category constructors
 */
export const ofErrors = (
  errors: ReadonlyArray<{ readonly path: Path; readonly message: string }>,
  actual: unknown
): ParseResult.ParseIssue => {
  const any = SchemaTree.of(Schema.Unknown)
  const issues = errors.map(({ message, path }) => {
    const type = EffectParser.refused(any, valueAt(actual, path), message)
    return Arr.isNonEmptyReadonlyArray(path) ? below(path, actual, type) : type
  })
  return Arr.isNonEmptyReadonlyArray(issues)
    ? EffectParser.together(actual, issues)
    : EffectParser.refused(any, actual, "does not conform")
}

/**
 * Returns the issue of a value that is at a path inside another value.
 *
 * @category utils
 */
export const below = (
  path: Arr.NonEmptyReadonlyArray<PropertyKey>,
  actual: unknown,
  issue: ParseResult.ParseIssue
): ParseResult.ParseIssue => EffectParser.below(path, actual, issue)

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value
  )
