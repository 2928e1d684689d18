/**
 * Where and why a value does not conform, in words that may be shown to whoever sent it: one line for each place, none
 * longer than needed, nothing of our own.
 *
 * @since 0.1.0
 */
import * as ParseResult from "effect/ParseResult"

/**
 * @since 0.1.0
 * @category models
 */
export interface Place {
  /** `hits.0.title`; empty for the value itself. */
  readonly path: string
  readonly message: string
}

const MAX_PLACES = 10
const MAX_MESSAGE = 200

/**
 * The places where a value does not conform, at most ten.
 *
 * @since 0.1.0
 * @category conversions
 */
export const places = (issue: ParseResult.ParseIssue): ReadonlyArray<Place> =>
  ParseResult.ArrayFormatter.formatIssueSync(issue).slice(0, MAX_PLACES).map(({ message, path }) => ({
    path: path.map(String).join("."),
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
  }))

/**
 * The same in one line: `q: is missing; limit: Expected an integer, actual 1.5`.
 *
 * @since 0.1.0
 * @category conversions
 */
export const sentence = (issue: ParseResult.ParseIssue): string =>
  places(issue).map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("; ")
