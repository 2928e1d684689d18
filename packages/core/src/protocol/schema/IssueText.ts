/**
 * The words of a refusal, for `EffectParser`, `Mend` and `McpError`: the path of a value, what a schema expects there, and what kind of value
 * is there instead. Every text has a bound, whatever a peer sent and however large the schema is.
 */
import * as Option from "effect/Option"
import * as SchemaTree from "./SchemaTree.js"

/** The longest text of what a schema expects, within a message. */
const MAX_EXPECTED = 140
const MAX_PATH = 200
/** The longest string that is quoted, in characters. */
const MAX_QUOTED = 40

export type Path = ReadonlyArray<PropertyKey>

/** A path as text. The sender chooses how long a key and a path are, so both are cut. */
export const pathText = (path: Path): string => {
  let text = ""
  for (const key of path) {
    if (text.length > MAX_PATH) break
    text += (text === "" ? "" : ".") + (typeof key === "string" ? key.slice(0, MAX_PATH + 1) : String(key))
  }
  return clip(text, MAX_PATH)
}

/** That a value is not what any of several schemas expects. */
export const mismatch = (asts: ReadonlyArray<SchemaTree.AST>, actual: unknown, quotes: boolean): string =>
  `Expected ${expectedOfAny(asts, MAX_EXPECTED)}, actual ${kindOf(actual, quotes)}`

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

const ELLIPSIS = "…"

/** A text of at most `max` characters; a longer one is cut and marked. */
export const clip = (text: string, max: number): string => text.length > max ? text.slice(0, max) + ELLIPSIS : text

/**
 * What a schema expects, in at most `max` characters and a mark: `string`, `an integer`, `{ readonly q: string }`, `"a" | "b"`. The words
 * are the words of Effect's own formatter, which would write the whole of a large schema first.
 */
export const expected = (ast: SchemaTree.AST, max: number): string =>
  clip(SchemaTree.isRefinement(ast) ? describeFilter(ast, max) : write(ast, max), max)

/** What any of several schemas expects. Schemas that read alike are written once. */
export const expectedOfAny = (asts: ReadonlyArray<SchemaTree.AST>, max: number): string => {
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
const describeFilter = (ast: SchemaTree.Refinement, max: number): string =>
  SchemaTree.getDescription(ast).pipe(
    Option.orElse(() => SchemaTree.getTitle(ast)),
    Option.orElse(() => SchemaTree.getIdentifier(ast)),
    Option.getOrElse(() => `{ ${write(ast.from, max)} | filter }`)
  )

const nameOf = (ast: SchemaTree.AST): string | undefined =>
  SchemaTree.getIdentifier(ast).pipe(
    Option.orElse(() => SchemaTree.getTitle(ast)),
    Option.orElse(() => SchemaTree.getDescription(ast)),
    Option.getOrUndefined
  )

/** Stops soon after `left` characters; the caller cuts what is too much. */
const write = (ast: SchemaTree.AST, left: number): string => {
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

const writeStruct = ({ indexSignatures, propertySignatures }: SchemaTree.TypeLiteral, left: number): string => {
  const members: ReadonlyArray<SchemaTree.PropertySignature | SchemaTree.IndexSignature> = [
    ...propertySignatures,
    ...indexSignatures
  ]
  return members.length === 0 ? "{}" : `{ ${join(members, "; ", left, writeMember)} }`
}

const writeMember = (one: SchemaTree.PropertySignature | SchemaTree.IndexSignature, left: number): string => {
  const name = "parameter" in one
    ? `[x: ${write(one.parameter, left)}]`
    : String(one.name) + (one.isOptional ? "?" : "")
  const before = `${one.isReadonly ? "readonly " : ""}${name}: `
  return before + write(one.type, left - before.length)
}

const writeTuple = ({ elements, rest }: SchemaTree.TupleType, left: number): string => {
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
