/**
 * Where and why a value does not conform, in words that may be shown to whoever sent it: one line for each place, none
 * longer than needed, nothing of our own.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
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
const MAX_DEPTH = 64

/**
 * The places where a value does not conform, at most ten.
 *
 * @since 0.1.0
 * @category conversions
 */
export const places = (issue: ParseResult.ParseIssue): ReadonlyArray<Place> =>
  telling(found(issue)).slice(0, MAX_PLACES).map(({ message, path }) => ({
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

interface Found {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

// Effect's formatter writes out the value that is wrong, and one that a peer nested too deep would end the stack.
const found = (issue: ParseResult.ParseIssue): ReadonlyArray<Found> => {
  const leaves = leavesOf(issue, [])
  return leaves.some(({ leaf }) => "actual" in leaf && isDeep(leaf.actual, MAX_DEPTH))
    ? leaves.map(({ leaf, path }) => ({
      path,
      message: "actual" in leaf && isDeep(leaf.actual, MAX_DEPTH)
        ? `Expected ${"ast" in leaf ? leaf.ast : "nothing"}, actual a value nested more than ${MAX_DEPTH} levels deep`
        : ParseResult.ArrayFormatter.formatIssueSync(leaf)[0]?.message ?? ""
    }))
    : ParseResult.ArrayFormatter.formatIssueSync(issue)
}

/** Without what an optional field could have been instead: nothing. */
const telling = (all: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const some = all.filter(({ message }) => !message.startsWith("Expected undefined, "))
  return some.length === 0 ? all : some
}

interface Leaf {
  readonly leaf: ParseResult.ParseIssue
  readonly path: ReadonlyArray<PropertyKey>
}

const leavesOf = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, path.concat(issue.path))
    case "Composite":
      return Arr.ensure<ParseResult.ParseIssue>(issue.issues).flatMap((inner) => leavesOf(inner, path))
    case "Transformation":
      return leavesOf(issue.issue, path)
    case "Refinement":
      return issue.kind === "From" ? leavesOf(issue.issue, path) : [{ leaf: issue, path }]
    default:
      return [{ leaf: issue, path }]
  }
}

const isDeep = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  return depth === 0 || Object.values(value).some((inner) => isDeep(inner, depth - 1))
}
