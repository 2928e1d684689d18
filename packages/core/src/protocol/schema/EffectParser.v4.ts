/**
 * Effect's parser of schemas: decoders, encoders, and the issues with which they refuse a value. This module replaces `EffectParser` for
 * version 4. The module makes issues, and searches an issue for the places where a value does not conform. `Issue` makes sentences from the
 * places. Issues of this module keep the refused values, although version 4 leaves these values out by default.
 */
import type * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as IssueText from "./IssueText.js"
import * as SchemaTree from "./SchemaTree.js"

/** The reason why a value does not conform to a schema. */
export type ParseIssue = SchemaIssue.Issue

/** The error that contains an issue. Its message never contains a value. */
export class ParseError extends Schema.SchemaError {
  constructor({ issue }: { readonly issue: ParseIssue }) {
    super(issue)
  }
  override get message(): string {
    return this.toString()
  }
  /** A subclass may replace the text, as in version 3. */
  override toString(): string {
    return super.message
  }
}

type Parse<E> = (u: unknown, options?: SchemaTree.ParseOptions) => E

const REPORT = { reportInput: true } as const

const reporting = <E>(parse: Parse<E>): Parse<E> => (u, options) =>
  parse(u, options === undefined ? REPORT : { ...options, ...REPORT })

/**
 * A parser whose effect has ended already when it needs to wait for nothing, as in version 3. Version 4 only describes the refusal of a
 * transformation: somebody must run the effect to get the issue. So this function runs the effect at once. A caller that does not want the
 * outcome of a decoder that waits does not stop the decoder.
 */
const atOnce = <A>(parse: Parse<Effect.Effect<A, ParseIssue>>): Parse<Effect.Effect<A, ParseIssue>> => (u, options) => {
  const effect = parse(u, options)
  if (Exit.isExit(effect)) return effect
  const fiber = Effect.runForkWith(Fiber.getCurrent()?.context ?? Context.empty())(effect)
  return fiber.pollUnsafe() ?? Effect.onInterrupt(Fiber.join(fiber), () => Fiber.interrupt(fiber))
}

/**
 * Decodes a value. This function and the three functions below throw the error of Effect's parser when the parser cannot use the schema.
 */
export const decodeUnknown = <A, I>(schema: Schema.Codec<A, I>): Parse<Effect.Effect<A, ParseIssue>> =>
  atOnce(reporting(SchemaParser.decodeUnknownEffect(schema)))

export const encodeUnknown = <A, I>(schema: Schema.Codec<A, I>): Parse<Effect.Effect<I, ParseIssue>> =>
  atOnce(reporting(SchemaParser.encodeUnknownEffect(schema)))

export const decodeUnknownEither = <A, I>(schema: Schema.Codec<A, I>): Parse<Result.Result<A, ParseIssue>> =>
  reporting(SchemaParser.decodeUnknownResult(schema))

export const encodeUnknownEither = <A, I>(schema: Schema.Codec<A, I>): Parse<Result.Result<I, ParseIssue>> =>
  reporting(SchemaParser.encodeUnknownResult(schema))

/** Adds the defaults of the fields that a caller of the struct may leave out. Refuses no value. */
export const withDefaults = (schema: Schema.Top): (u: unknown) => unknown => {
  const struct = schema as unknown as Schema.Struct<Schema.Struct.Fields>
  return (u) => Option.getOrElse(struct.makeOption(u as never, { disableChecks: true }), () => u)
}

/** Makes the issue of a value, with a text that explains the issue. */
export const refused = (_ast: SchemaTree.AST, actual: unknown, message: string): ParseIssue =>
  new SchemaIssue.InvalidValue({ message }, actual, REPORT)

/** Makes the issue of a value that is at a path inside another value. */
export const below = (
  path: Arr.NonEmptyReadonlyArray<PropertyKey>,
  _actual: unknown,
  issue: ParseIssue
): ParseIssue => new SchemaIssue.Pointer(path, issue)

/** Makes one issue that consists of several issues of the same value. */
export const together = (actual: unknown, issues: Arr.NonEmptyReadonlyArray<ParseIssue>): ParseIssue =>
  new SchemaIssue.Composite(Schema.Unknown.ast, issues, actual, REPORT)

/** Makes the value that a filter returns to refuse a member of a value. */
export const refusedMember = (member: string, message: string) => ({ path: [member], issue: message })

/** Makes the annotation that sets the text for each value that a schema refuses. */
export const words = (message: string): { readonly message: string } => ({ message })

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

  const visit = (issue: SchemaIssue.Issue, path: IssueText.Path): void => {
    if (isOver()) return
    steps++
    switch (issue._tag) {
      case "Pointer":
        return visit(issue.issue, path.concat(issue.path))
      case "MissingKey":
        return add(path, textAt(issue.annotations, "messageMissingKey") ?? "is missing")
      case "UnexpectedKey":
        return add(path, textAt(issue.ast.annotations, "messageUnexpectedKey") ?? "is unexpected")
      case "Forbidden":
        return add(path, textAt(issue.annotations, "message") ?? "is forbidden")
      case "InvalidValue":
        return add(path, textAt(issue.annotations, "message") ?? "does not conform")
      case "InvalidType":
        return add(path, messageOf(issue.ast) ?? IssueText.mismatch([base(issue.ast)], issue.input, quotes))
      case "OneOf":
        return add(path, "conforms to more than one type")
      case "Filter":
        return visitFilter(issue, path)
      case "Encoding":
        return visit(issue.issue, path)
      case "AnyOf":
        return visitUnion(issue, path)
    }
    const message = messageOf(issue.ast)
    if (message !== undefined) return add(path, message)
    for (const one of issue.issues) {
      if (isOver()) return
      visit(one, path)
    }
  }

  /**
   * Adds the message annotation of the check. If the check has no such annotation, adds the message that the function of the check
   * returned. If there is no message, adds a text that says what the check expects.
   */
  const visitFilter = ({ filter, input, issue }: SchemaIssue.Filter, path: IssueText.Path): void => {
    const message = textAt(filter.annotations, "message")
    if (message !== undefined) return add(path, message)
    if (issue._tag !== "InvalidValue" || textAt(issue.annotations, "message") !== undefined) return visit(issue, path)
    add(path, IssueText.mismatch([SchemaTree.ofCheck(filter)], input, quotes))
  }

  /**
   * Handles the issues of a union. The members that refuse the value as a whole make one place together. Every other member reports places
   * inside of the value.
   */
  const visitUnion = (issue: SchemaIssue.AnyOf, path: IssueText.Path): void => {
    const message = messageOf(issue.ast)
    if (message !== undefined) return add(path, message)
    const whole: Array<SchemaTree.AST> = []
    const within: Array<SchemaIssue.Issue> = []
    // Version 4 gives no issue for members that the kind of the value, or the text that discriminates the members, excludes.
    if (issue.issues.length === 0) {
      const members = (SchemaTree.view(issue.ast) as SchemaTree.Union).types
      const own = discriminator(members, issue.input)
      if (own !== undefined) {
        const { expected, name, value } = own
        return add(path.concat(name), value === undefined ? "is missing" : IssueText.mismatch(expected, value, quotes))
      }
      whole.push(...members)
    }
    for (const member of issue.issues) {
      if (++steps > MAX_STEPS) break
      if (member._tag === "InvalidType" && messageOf(member.ast) === undefined) whole.push(SchemaTree.view(member.ast))
      else within.push(member)
    }
    const present = whole.filter((ast) => !SchemaTree.isUndefinedKeyword(ast))
    const expected = present.length === 0 && within.length === 0 ? whole : present
    if (expected.length > 0) add(path, IssueText.mismatch(expected, issue.input, quotes))
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

/** The field that has a literal in every member of a union of structs, with the value that an object has there. */
const discriminator = (members: ReadonlyArray<SchemaTree.AST>, input: unknown) => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  const structs = members.map((member) => SchemaTree.fields(SchemaTree.encoded(member)))
  for (const { name } of structs[0] ?? []) {
    const expected = structs.flatMap((fields) =>
      fields.flatMap((field) => field.name === name && SchemaTree.isLiteral(field.type) ? [field.type] : [])
    )
    if (expected.length === structs.length) {
      return { expected, name, value: (input as Record<PropertyKey, unknown>)[name] }
    }
  }
  return undefined
}

const textAt = (annotations: object | undefined, key: string): string | undefined => {
  const text = (annotations as Record<string, unknown> | undefined)?.[key]
  return typeof text === "string" ? text : undefined
}

/** The type that a value of another type does not have: without the checks, which Effect has not tried. */
const base = (ast: SchemaIssue.InvalidType["ast"]): SchemaTree.AST => {
  let view = SchemaTree.view(ast)
  while (SchemaTree.isRefinement(view)) view = view.from
  return view
}

const messageOf = (ast: SchemaIssue.InvalidType["ast"]): string | undefined =>
  textAt(ast.checks === undefined ? ast.annotations : ast.checks[ast.checks.length - 1]!.annotations, "message")
