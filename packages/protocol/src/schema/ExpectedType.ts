/**
 * What a schema expects, as a short text: `string`, `an integer`, `{ readonly q: string }`, `"a" | "b"`.
 *
 * The words are those of Effect's own formatter. Unlike it, this module writes no more than a given number of
 * characters and stops there, so that a large schema costs no more than a small one. `Issue` describes the actual
 * value.
 */
import * as Option from "effect/Option"
import * as AST from "effect/SchemaAST"

const ELLIPSIS = "…"

/** A text of at most `max` characters; a longer one is cut and marked. */
export const clip = (text: string, max: number): string => text.length > max ? text.slice(0, max) + ELLIPSIS : text

/** What a schema expects, in at most `max` characters and a mark. */
export const describe = (ast: AST.AST, max: number): string =>
  clip(AST.isRefinement(ast) ? describeFilter(ast, max) : write(ast, max), max)

/** What any of several schemas expects. Two that read alike are written once. */
export const describeAny = (asts: ReadonlyArray<AST.AST>, max: number): string => {
  const texts = new Set<string>()
  let length = 0
  for (const ast of asts) {
    if (length > max) break
    const text = describe(ast, max)
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

const named = (ast: AST.AST): string | undefined =>
  AST.getIdentifierAnnotation(ast).pipe(
    Option.orElse(() => AST.getTitleAnnotation(ast)),
    Option.orElse(() => AST.getDescriptionAnnotation(ast)),
    Option.getOrUndefined
  )

/** Stops soon after `left` characters; the caller cuts what is too much. */
const write = (ast: AST.AST, left: number): string => {
  if (left <= 0) return ELLIPSIS
  const name = named(ast)
  if (name !== undefined) return name
  switch (ast._tag) {
    case "TypeLiteral":
      return struct(ast, left)
    case "TupleType":
      return tuple(ast, left)
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
      return named(ast.f()) ?? "<suspended schema>"
    default:
      return String(ast)
  }
}

const struct = ({ indexSignatures, propertySignatures }: AST.TypeLiteral, left: number): string => {
  const members: ReadonlyArray<AST.PropertySignature | AST.IndexSignature> = [...propertySignatures, ...indexSignatures]
  return members.length === 0 ? "{}" : `{ ${join(members, "; ", left, member)} }`
}

const member = (one: AST.PropertySignature | AST.IndexSignature, left: number): string => {
  const name = "parameter" in one
    ? `[x: ${write(one.parameter, left)}]`
    : String(one.name) + (one.isOptional ? "?" : "")
  const before = `${one.isReadonly ? "readonly " : ""}${name}: `
  return before + write(one.type, left - before.length)
}

const tuple = ({ elements, rest }: AST.TupleType, left: number): string => {
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
