/**
 * A schema of plain data as one function: the part of a value that the schema names, or a refusal. What most tools take and
 * give has no transformations, and a compiled copy of it costs a fraction of the general parser, which still explains what
 * was refused and does everything else.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * What stands for "does not conform".
 *
 * @since 0.1.0
 * @category constants
 */
export const refused: unique symbol = Symbol.for("@effect-mcp/definition/Plain/refused")

/**
 * The value as the schema sees it, or `refused`. Members that the schema does not name are left out.
 *
 * @since 0.1.0
 * @category models
 */
export type Copy = (u: unknown) => unknown

/**
 * The copy of a schema of plain data, decoded or encoded; `undefined` for one that is more than that (transformations,
 * classes, records, tuples, types within themselves). It takes what the parser takes and gives what the parser gives.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compile = (schema: Schema.Schema.All): Copy | undefined => make(schema.ast)

const make = (ast: AST.AST): Copy | undefined => {
  if (changesParsing(ast)) return undefined
  switch (ast._tag) {
    case "StringKeyword":
      return (u) => typeof u === "string" ? u : refused
    case "NumberKeyword":
      return (u) => typeof u === "number" ? u : refused
    case "BooleanKeyword":
      return (u) => typeof u === "boolean" ? u : refused
    case "UndefinedKeyword":
      return (u) => u === undefined ? u : refused
    case "UnknownKeyword":
    case "AnyKeyword":
      return (u) => u
    case "Literal": {
      const { literal } = ast
      return (u) => u === literal ? u : refused
    }
    case "Refinement":
      return refinement(ast)
    case "TupleType":
      return array(ast)
    case "TypeLiteral":
      return struct(ast)
    case "Union":
      return union(ast)
    default:
      return undefined
  }
}

// Annotations by which an author changes how a value is parsed, not only what is said of it.
const changesParsing = ({ annotations }: AST.AST): boolean =>
  annotations[AST.DecodingFallbackAnnotationId] !== undefined || annotations[AST.ParseOptionsAnnotationId] !== undefined

const refinement = (ast: AST.Refinement): Copy | undefined => {
  const from = make(ast.from)
  if (from === undefined) return undefined
  return (u) => {
    const copy = from(u)
    return copy !== refused && Option.isNone(ast.filter(copy, AST.defaultParseOption, ast)) ? copy : refused
  }
}

const array = (ast: AST.TupleType): Copy | undefined => {
  const item = ast.elements.length === 0 && ast.rest.length === 1 ? make(ast.rest[0]!.type) : undefined
  if (item === undefined) return undefined
  return (u) => {
    if (!Array.isArray(u)) return refused
    const copies = new Array<unknown>(u.length)
    for (let i = 0; i < u.length; i++) {
      const copy = item(u[i])
      if (copy === refused) return refused
      copies[i] = copy
    }
    return copies
  }
}

const struct = (ast: AST.TypeLiteral): Copy | undefined => {
  // An empty struct takes anything but null and undefined: the parser knows.
  if (ast.indexSignatures.length > 0 || ast.propertySignatures.length === 0) return undefined
  const properties: Array<{ readonly name: string; readonly optional: boolean; readonly copy: Copy }> = []
  for (const { isOptional, name, type } of ast.propertySignatures) {
    const copy = make(type)
    if (copy === undefined || typeof name !== "string" || name === "__proto__") return undefined
    properties.push({ name, optional: isOptional, copy })
  }
  return (u) => {
    if (typeof u !== "object" || u === null || Array.isArray(u)) return refused
    const object = u as Record<string, unknown>
    const known: Record<string, unknown> = {}
    for (let i = 0; i < properties.length; i++) {
      const { copy, name, optional } = properties[i]!
      // As the parser has it: what is inherited is not there, and what is not there is undefined.
      if (optional && !Object.hasOwn(object, name)) continue
      const copied = copy(object[name])
      if (copied === refused) return refused
      known[name] = copied
    }
    return known
  }
}

// The first member that takes the value wins, but those that a literal tells apart come before all others. The parser's
// ways with members that share a literal, or have several, are its own.
const union = (ast: AST.Union): Copy | undefined => {
  const others: Array<Copy> = []
  const tagged = new Map<AST.LiteralValue, Copy>()
  const hashes = new Set<string>()
  let key: PropertyKey | undefined
  for (const type of ast.types) {
    const copy = make(type)
    if (copy === undefined) return undefined
    const tag = tagOf(type)
    if (tag === undefined) {
      others.push(copy)
      continue
    }
    if (!AST.isLiteral(tag.type) || tag.name !== (key ??= tag.name)) return undefined
    const { literal } = tag.type
    if (hashes.has(String(literal))) return undefined
    hashes.add(String(literal))
    tagged.set(literal, copy)
  }
  const first = (u: unknown): unknown => {
    for (let i = 0; i < others.length; i++) {
      const copy = others[i]!(u)
      if (copy !== refused) return copy
    }
    return refused
  }
  if (key === undefined) return first
  const name = key
  return (u) => {
    if (typeof u === "object" && u !== null && Object.hasOwn(u, name)) {
      const copy = tagged.get((u as Record<PropertyKey, unknown>)[name] as AST.LiteralValue)?.(u) ?? refused
      if (copy !== refused) return copy
    }
    return first(u)
  }
}

/** The first field of a struct that can have one value only; one that is a literal only once decoded tells nothing sure. */
const tagOf = (ast: AST.AST): AST.PropertySignature | undefined =>
  AST.isRefinement(ast)
    ? tagOf(ast.from)
    : AST.isTypeLiteral(ast)
    ? ast.propertySignatures.find(({ isOptional, type }) => !isOptional && AST.isLiteral(AST.encodedAST(type)))
    : undefined
