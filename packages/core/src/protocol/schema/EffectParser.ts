/**
 * Effect's parser of schemas: decoders, encoders, and the issues with which they refuse a value. Only this module imports
 * `effect/ParseResult`. The module makes issues, and searches an issue for the places where a value does not conform. `Issue` makes
 * sentences from the places. The issues of version 4 of Effect have other types. For version 4, `EffectParser.v4.ts` replaces this module.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as IssueText from "./IssueText.js"
import * as SchemaTree from "./SchemaTree.js"

/** The reason why a value does not conform to a schema. */
export type ParseIssue = ParseResult.ParseIssue

/** The error that contains an issue. */
export type ParseError = ParseResult.ParseError
export const ParseError: typeof ParseResult.ParseError = ParseResult.ParseError

type Parse<E> = (u: unknown, options?: SchemaTree.ParseOptions) => E

/**
 * Decodes a value. This function and the three functions below throw the error of Effect's parser when the parser cannot use the schema.
 */
export const decodeUnknown: <A, I>(schema: Schema.Schema<A, I>) => Parse<Effect.Effect<A, ParseIssue>> =
  ParseResult.decodeUnknown

export const encodeUnknown: <A, I>(schema: Schema.Schema<A, I>) => Parse<Effect.Effect<I, ParseIssue>> =
  ParseResult.encodeUnknown

export const decodeUnknownEither: <A, I>(schema: Schema.Schema<A, I>) => Parse<Either.Either<A, ParseIssue>> =
  ParseResult.decodeUnknownEither

export const encodeUnknownEither: <A, I>(schema: Schema.Schema<A, I>) => Parse<Either.Either<I, ParseIssue>> =
  ParseResult.encodeUnknownEither

/** Adds the defaults of the fields that a caller of the struct may leave out. Checks nothing. */
export const withDefaults = (schema: Schema.Schema.Any): (u: unknown) => unknown => {
  const struct = schema as unknown as Schema.Struct<Schema.Struct.Fields>
  return (u) => struct.make(u as never, { disableValidation: true })
}

/** Makes the issue of a value, with a text that explains the issue. */
export const refused = (ast: SchemaTree.AST, actual: unknown, message: string): ParseIssue =>
  new ParseResult.Type(ast, actual, message)

/** Makes the issue of a value that is at a path inside another value. */
export const below = (
  path: Arr.NonEmptyReadonlyArray<PropertyKey>,
  actual: unknown,
  issue: ParseIssue
): ParseIssue => new ParseResult.Pointer(path, actual, issue)

/** Makes one issue that consists of several issues of the same value. */
export const together = (actual: unknown, issues: Arr.NonEmptyReadonlyArray<ParseIssue>): ParseIssue =>
  new ParseResult.Composite(Schema.Unknown.ast, actual, issues)

/** Makes the value that a filter returns to refuse a member of a value. */
export const refusedMember = (member: string, message: string): Schema.FilterIssue => ({ path: [member], message })

/** Makes the annotation that sets the text for each value that a schema refuses. */
export const words = (message: string): { readonly message: SchemaAST.MessageAnnotation } => ({
  message: () => ({ message, override: true })
})

interface Place {
  readonly path: string
  readonly message: string
}

const MAX_PLACES = 10
const MAX_MESSAGE = 200
/** How many issues one search visits at most. */
const MAX_STEPS = 1000

/** Returns the places where a value does not conform; at most ten. `quotes` says whether the texts quote short values. */
export const places = (issue: ParseIssue, quotes: boolean): ReadonlyArray<Place> => {
  const found: Array<Place> = []
  let steps = 0
  const isOver = (): boolean => found.length === MAX_PLACES || steps >= MAX_STEPS
  const add = (path: IssueText.Path, message: string): void => {
    found.push({ path: IssueText.pathText(path), message: IssueText.clip(message, MAX_MESSAGE) })
  }

  const visit = (issue: ParseIssue, path: IssueText.Path): void => {
    if (isOver()) return
    steps++
    switch (issue._tag) {
      case "Pointer":
        return visit(issue.issue, path.concat(issue.path))
      case "Type":
        return add(path, typeMessage(issue, quotes))
      case "Missing":
        return add(path, missingMessage(issue))
      case "Unexpected":
        return add(path, issue.message ?? "is unexpected")
      case "Forbidden":
        return add(path, issue.message ?? "is forbidden")
    }
    const message = annotated(issue)
    if (message !== undefined) return add(path, message)
    if (issue._tag !== "Composite") return visit(issue.issue, path)
    const inner = Arr.ensure<ParseIssue>(issue.issues)
    if (SchemaTree.isUnion(issue.ast)) return visitUnion(issue.actual, inner, path)
    for (const one of inner) {
      if (isOver()) return
      visit(one, path)
    }
  }

  /**
   * Handles the issues of a union. The members that refuse the value as a whole make one place together. Every other member reports places
   * inside of the value.
   */
  const visitUnion = (actual: unknown, members: ReadonlyArray<ParseIssue>, path: IssueText.Path): void => {
    const whole: Array<SchemaTree.AST> = []
    const within: Array<ParseIssue> = []
    for (const member of members) {
      if (++steps > MAX_STEPS) break
      const expected = expectedAsAWhole(member, actual)
      if (expected === undefined) within.push(member)
      else whole.push(expected)
    }
    // The schema of an optional field also accepts `undefined`. The text names `undefined` only when nothing else was expected.
    const present = whole.filter((ast) => !SchemaTree.isUndefinedKeyword(ast))
    const expected = present.length === 0 && within.length === 0 ? whole : present
    if (expected.length > 0) add(path, IssueText.mismatch(expected, actual, quotes))
    for (const one of within) {
      if (isOver()) return
      visit(one, path)
    }
  }

  visit(issue, [])
  // The search has found no place within the largest number of steps.
  if (found.length === 0) add([], "does not conform")
  return found
}

const typeMessage = (issue: ParseResult.Type, quotes: boolean): string =>
  annotated(issue) ?? titled(issue) ?? issue.message ??
    IssueText.mismatch([issue.ast], issue.actual, quotes)

const missingMessage = (issue: ParseResult.Missing): string =>
  Option.match(SchemaAST.getMissingMessageAnnotation(issue.ast), {
    onNone: () => undefined,
    onSome: (message) => textOf(message())
  }) ?? issue.message ?? "is missing"

const titled = (issue: ParseResult.Type): string | undefined =>
  Option.getOrUndefined(
    Option.flatMapNullable(SchemaAST.getParseIssueTitleAnnotation(issue.ast), (title) => title(issue))
  )

type Annotated = ParseResult.Type | ParseResult.Composite | ParseResult.Refinement | ParseResult.Transformation

/**
 * Returns the text of the `message` annotation of the schema. As in Effect's formatter, a message of an inner schema takes precedence over
 * a message of an outer schema.
 */
const annotated = (issue: ParseIssue): string | undefined => {
  switch (issue._tag) {
    case "Type":
    case "Composite":
    case "Refinement":
    case "Transformation":
      return Option.getOrUndefined(
        Option.flatMapNullable(SchemaAST.getMessageAnnotation(issue.ast), (message) => choose(issue, message(issue)))
      )
    default:
      return undefined
  }
}

const choose = (issue: Annotated, given: ReturnType<SchemaAST.MessageAnnotation>): string | undefined => {
  const hasOptions = !Predicate.isString(given) && !Effect.isEffect(given)
  if (hasOptions && given.override) return textOf(given.message)
  switch (issue._tag) {
    case "Composite":
      return undefined
    case "Refinement":
      if (issue.kind === "From") return annotated(issue.issue)
      break
    case "Transformation":
      if (issue.kind !== "Transformation") return annotated(issue.issue)
  }
  return textOf(hasOptions ? given.message : given)
}

/** Returns the text of a message; `undefined` when an asynchronous effect makes the message, because the caller needs the text at once. */
const textOf = (message: string | Effect.Effect<string>): string | undefined =>
  Predicate.isString(message) ? message : Exit.getOrElse(Effect.runSyncExit(message), () => undefined)

/**
 * Returns the schema that a member of a union expected for the whole value. Returns `undefined` when the issue of the member is about a
 * part of the value, or has a `message` annotation.
 */
const expectedAsAWhole = (issue: ParseIssue, actual: unknown): SchemaTree.AST | undefined => {
  if (annotated(issue) !== undefined) return undefined
  switch (issue._tag) {
    case "Refinement":
      return issue.kind === "From" ? expectedAsAWhole(issue.issue, actual) : undefined
    case "Transformation":
      return issue.kind === "Encoded" ? expectedAsAWhole(issue.issue, actual) : undefined
    case "Type":
      return issue.message === undefined && Object.is(issue.actual, actual) && titled(issue) === undefined
        ? issue.ast
        : undefined
    default:
      return undefined
  }
}
