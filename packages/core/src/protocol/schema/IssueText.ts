/**
 * Makes the texts that explain why a value does not conform to a schema, for `EffectParser`, `Mend` and `McpError`. The texts name the path
 * of the value, what the schema expects, and the kind of the actual value. Every text has a limited length, whatever a peer has sent and
 * however large the schema is.
 */
import * as Option from "effect/Option"
import * as SchemaTree from "./SchemaTree.js"

/** How many characters of a message may describe what a schema expects. */
const MAX_EXPECTED = 140
const MAX_PATH = 200
/** How many characters a quoted string may have at most. */
const MAX_QUOTED = 40

export type Path = ReadonlyArray<PropertyKey>

/** Returns the text of a path. Cuts long keys and long paths, because the sender of the value chooses the keys. */
export const pathText = (path: Path): string => {
  let text = ""
  for (const key of path) {
    if (text.length > MAX_PATH) break
    text += (text === "" ? "" : ".") + (typeof key === "string" ? key.slice(0, MAX_PATH + 1) : String(key))
  }
  return clip(text, MAX_PATH)
}

/** Returns the text for a value that conforms to none of several schemas. */
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

/** Returns the first `max` characters of a text. An ellipsis marks a text that was cut. */
export const clip = (text: string, max: number): string => text.length > max ? text.slice(0, max) + ELLIPSIS : text

/**
 * Describes what a schema expects, in at most `max` characters and an ellipsis. Examples: `string`, `an integer`, `{ readonly q: string }`,
 * `"a" | "b"`. Effect's formatter makes the same texts, but it always writes the text of the whole schema, and a schema can be large.
 */
export const expected = (ast: SchemaTree.AST, max: number): string =>
  clip(SchemaTree.isRefinement(ast) ? describeFilter(ast, max) : write(ast, max), max)

/** Describes what any of several schemas expects. Names schemas with the same text only once. */
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

/** Returns the text of a filter. The description of a filter explains a refused value better than the name of the type. */
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

/** Returns the text of a schema. The text may have a little more than `left` characters, and the caller cuts the text. */
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
