/**
 * Where and why a value does not conform to a schema, in words for the peer that sent the value: one line for each place.
 * `ofErrors` makes the same kind of issue of errors that another validator found; `expected` describes a schema.
 *
 * No value is ever formatted. A text describes what the schema expects, and names only the kind of the actual value; a
 * short string, a number and a boolean are quoted. A walk over the issue ends after ten places, and after a fixed
 * number of steps, so that a refusal costs the same whatever the peer sent.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** @category models */
export interface Place {
  /** `hits.0.title`; empty for the value itself. */
  readonly path: string
  readonly message: string
}

/**
 * The places where a value does not conform, and the same in one line.
 *
 * @category models
 */
export interface Explanation {
  readonly sentence: string
  readonly places: ReadonlyArray<Place>
}

const MAX_PLACES = 10
const MAX_MESSAGE = 200
const MAX_EXPECTED = 140
const MAX_PATH = 200
/** The longest string that is quoted, in characters. */
const MAX_QUOTED = 40
/** How many issues one walk visits. */
const MAX_STEPS = 1000

/** @category models */
export interface Options {
  /** Whether short strings, numbers and booleans of the value are quoted. Default: true. */
  readonly quotes?: boolean | undefined
}

/**
 * The places where a value does not conform, at most ten.
 *
 * @category utils
 */
export const places = (issue: ParseResult.ParseIssue, { quotes = true }: Options = {}): ReadonlyArray<Place> => {
  const found: Array<Place> = []
  let steps = 0
  const isOver = (): boolean => found.length === MAX_PLACES || steps >= MAX_STEPS
  const add = (path: Path, message: string): void => {
    found.push({ path: pathText(path), message: clip(message, MAX_MESSAGE) })
  }

  const visit = (issue: ParseResult.ParseIssue, path: Path): void => {
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
    const inner = Arr.ensure<ParseResult.ParseIssue>(issue.issues)
    if (AST.isUnion(issue.ast)) return visitUnion(issue.actual, inner, path)
    for (const one of inner) {
      if (isOver()) return
      visit(one, path)
    }
  }

  /** The members that refuse the value as a whole make one place; each other member reports places within the value. */
  const visitUnion = (actual: unknown, members: ReadonlyArray<ParseResult.ParseIssue>, path: Path): void => {
    const whole: Array<AST.AST> = []
    const within: Array<ParseResult.ParseIssue> = []
    for (const member of members) {
      if (++steps > MAX_STEPS) break
      const expected = expectedAsAWhole(member, actual)
      if (expected === undefined) within.push(member)
      else whole.push(expected)
    }
    // The schema of an optional field also accepts `undefined`, which is named only where nothing else was expected.
    const present = whole.filter((ast) => !AST.isUndefinedKeyword(ast))
    const expected = present.length === 0 && within.length === 0 ? whole : present
    if (expected.length > 0) add(path, mismatch(expectedOfAny(expected, MAX_EXPECTED), actual, quotes))
    for (const one of within) {
      if (isOver()) return
      visit(one, path)
    }
  }

  visit(issue, [])
  // Nothing was found within the steps of a walk.
  if (found.length === 0) add([], "does not conform")
  return found
}

/**
 * The places in one line: `q: is missing; limit: Expected an integer, actual 1.5`.
 *
 * @category utils
 */
export const sentence = (issue: ParseResult.ParseIssue): string => explain(issue).sentence

/**
 * The places and the sentence from one walk, for answers that carry data and a text.
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
 * A path as text. The sender chooses how long a key and a path are, so both are cut.
 *
 * @category utils
 */
export const pathText = (path: Path): string => {
  let text = ""
  for (const key of path) {
    if (text.length > MAX_PATH) break
    text += (text === "" ? "" : ".") + (typeof key === "string" ? key.slice(0, MAX_PATH + 1) : String(key))
  }
  return clip(text, MAX_PATH)
}

const typeMessage = (issue: ParseResult.Type, quotes: boolean): string =>
  annotated(issue) ?? titled(issue) ?? issue.message ??
    mismatch(expected(issue.ast, MAX_EXPECTED), issue.actual, quotes)

const mismatch = (expected: string, actual: unknown, quotes: boolean): string =>
  `Expected ${expected}, actual ${kindOf(actual, quotes)}`

const kindOf = (value: unknown, quotes: boolean): string => {
  switch (typeof value) {
    case "string":
      return quotes && value.length <= MAX_QUOTED
        ? JSON.stringify(value)
        : `a string of ${value.length} characters`
    case "number":
    case "boolean":
      return quotes ? String(value) : `a ${typeof value}`
    case "undefined":
      return "undefined"
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object"
    default:
      return `a ${typeof value}`
  }
}

const missingMessage = (issue: ParseResult.Missing): string =>
  Option.match(AST.getMissingMessageAnnotation(issue.ast), {
    onNone: () => undefined,
    onSome: (message) => textOf(message())
  }) ?? issue.message ?? "is missing"

const titled = (issue: ParseResult.Type): string | undefined =>
  Option.getOrUndefined(
    Option.flatMapNullable(AST.getParseIssueTitleAnnotation(issue.ast), (title) => title(issue))
  )

type Annotated = ParseResult.Type | ParseResult.Composite | ParseResult.Refinement | ParseResult.Transformation

/**
 * The `message` annotation of the schema, by the rules of Effect's formatter: an inner message goes before an outer one.
 */
const annotated = (issue: ParseResult.ParseIssue): string | undefined => {
  switch (issue._tag) {
    case "Type":
    case "Composite":
    case "Refinement":
    case "Transformation":
      return Option.getOrUndefined(
        Option.flatMapNullable(AST.getMessageAnnotation(issue.ast), (message) => choose(issue, message(issue)))
      )
    default:
      return undefined
  }
}

const choose = (issue: Annotated, given: ReturnType<AST.MessageAnnotation>): string | undefined => {
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

/** A message that an asynchronous effect makes is left out: a refusal is written at once. */
const textOf = (message: string | Effect.Effect<string>): string | undefined =>
  Predicate.isString(message) ? message : Exit.getOrElse(Effect.runSyncExit(message), () => undefined)

/**
 * What a member of a union expected in place of the whole value; `undefined` when its issue is about a part of the
 * value or has its own text.
 */
const expectedAsAWhole = (issue: ParseResult.ParseIssue, actual: unknown): AST.AST | undefined => {
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

/**
 * One issue for errors that no schema of Effect has found. A path is empty for the value itself.
 *
 * @category constructors
 */
export const ofErrors = (
  errors: ReadonlyArray<{ readonly path: Path; readonly message: string }>,
  actual: unknown
): ParseResult.ParseIssue => {
  const issues = errors.map(({ message, path }) => {
    const type = new ParseResult.Type(Schema.Unknown.ast, valueAt(actual, path), message)
    return Arr.isNonEmptyReadonlyArray(path) ? below(path, actual, type) : type
  })
  return Arr.isNonEmptyReadonlyArray(issues)
    ? new ParseResult.Composite(Schema.Unknown.ast, actual, issues)
    : new ParseResult.Type(Schema.Unknown.ast, actual, "does not conform")
}

/**
 * The issue of a value inside another one.
 *
 * @category utils
 */
export const below = (
  path: Arr.NonEmptyReadonlyArray<PropertyKey>,
  actual: unknown,
  issue: ParseResult.ParseIssue
): ParseResult.ParseIssue => new ParseResult.Pointer(path, actual, issue)

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value
  )

const ELLIPSIS = "…"

/** A text of at most `max` characters; a longer one is cut and marked. */
const clip = (text: string, max: number): string => text.length > max ? text.slice(0, max) + ELLIPSIS : text

/**
 * What a schema expects, in at most `max` characters and a mark: `string`, `an integer`, `{ readonly q: string }`,
 * `"a" | "b"`. The words are those of Effect's own formatter, which would write the whole of a large schema first.
 *
 * @category utils
 */
export const expected = (ast: AST.AST, max: number): string =>
  clip(AST.isRefinement(ast) ? describeFilter(ast, max) : write(ast, max), max)

/**
 * What any of several schemas expects. Schemas that read alike are written once.
 *
 * @category utils
 */
export const expectedOfAny = (asts: ReadonlyArray<AST.AST>, max: number): string => {
  const texts = new Set<string>()
  let length = 0
  for (const ast of asts) {
    if (length > max) break
    const text = expected(ast, max)
    if (!texts.has(text)) length += text.length
    texts.add(text)
  }
  return clip([...texts].join(" | "), max)
}

/** The description of a filter explains a refused value better than the name of its type does. */
const describeFilter = (ast: AST.Refinement, max: number): string =>
  AST.getDescriptionAnnotation(ast).pipe(
    Option.orElse(() => AST.getTitleAnnotation(ast)),
    Option.orElse(() => AST.getIdentifierAnnotation(ast)),
    Option.getOrElse(() => `{ ${write(ast.from, max)} | filter }`)
  )

const nameOf = (ast: AST.AST): string | undefined =>
  AST.getIdentifierAnnotation(ast).pipe(
    Option.orElse(() => AST.getTitleAnnotation(ast)),
    Option.orElse(() => AST.getDescriptionAnnotation(ast)),
    Option.getOrUndefined
  )

/** Stops soon after `left` characters; the caller cuts what is too much. */
const write = (ast: AST.AST, left: number): string => {
  if (left <= 0) return ELLIPSIS
  const name = nameOf(ast)
  if (name !== undefined) return name
  switch (ast._tag) {
    case "TypeLiteral":
      return writeStruct(ast, left)
    case "TupleType":
      return writeTuple(ast, left)
    case "Union":
      return join(ast.types, " | ", left, write)
    case "Enums":
      return `<enum ${ast.enums.length} value(s): ${
        join(ast.enums, " | ", left, ([, value]) => JSON.stringify(value))
      }>`
    case "Refinement":
      return `{ ${write(ast.from, left - 2)} | filter }`
    case "Transformation":
      return `(${write(ast.from, left - 1)} <-> ${write(ast.to, left / 2)})`
    case "Suspend":
      return nameOf(ast.f()) ?? "<suspended schema>"
    default:
      return String(ast)
  }
}

const writeStruct = ({ indexSignatures, propertySignatures }: AST.TypeLiteral, left: number): string => {
  const members: ReadonlyArray<AST.PropertySignature | AST.IndexSignature> = [...propertySignatures, ...indexSignatures]
  return members.length === 0 ? "{}" : `{ ${join(members, "; ", left, writeMember)} }`
}

const writeMember = (one: AST.PropertySignature | AST.IndexSignature, left: number): string => {
  const name = "parameter" in one
    ? `[x: ${write(one.parameter, left)}]`
    : String(one.name) + (one.isOptional ? "?" : "")
  const before = `${one.isReadonly ? "readonly " : ""}${name}: `
  return before + write(one.type, left - before.length)
}

const writeTuple = ({ elements, rest }: AST.TupleType, left: number): string => {
  const [head, ...tail] = rest
  if (head !== undefined && elements.length === 0 && tail.length === 0) {
    return `ReadonlyArray<${write(head.type, left - 14)}>`
  }
  const first = join(elements, ", ", left, (one, left) => write(one.type, left) + (one.isOptional ? "?" : ""))
  if (head === undefined) return `readonly [${first}]`
  const item = write(head.type, left - first.length)
  const many = `...${item.includes(" | ") ? `(${item})` : item}[]`
  const last = tail.map(({ type }) => write(type, left - first.length - item.length))
  return `readonly [${[...(first === "" ? [] : [first]), many, ...last].join(", ")}]`
}

const join = <A>(
  all: ReadonlyArray<A>,
  separator: string,
  left: number,
  f: (one: A, left: number) => string
): string => {
  let text = ""
  for (const one of all) {
    if (text !== "") text += separator
    if (text.length >= left) return text + ELLIPSIS
    text += f(one, left - text.length)
  }
  return text
}
