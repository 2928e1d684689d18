/**
 * Decoders and encoders of a schema, prepared once. Values of plain data go through one compiled function, which checks and copies a value
 * in one step. All other values go through Effect's parser. Effect's parser also explains why a value does not conform. The modules that
 * decode with a schema of the application, such as `ToolCodec` and `Form`, use these functions.
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as EffectParser from "../../protocol/schema/EffectParser.js"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"

export type Parser = (u: unknown) => Effect.Effect<any, EffectParser.ParseIssue>

/** `all` reports every error of a small value; `first` stops at the first error. */
export type Errors = "all" | "first"

/** Makes a decoder. Throws the error of Effect's parser for a schema that it cannot use. */
export const decoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  const parse = withErrors(errors, decodeUnknown(schema))
  return plainOr(schema, () => parse)
}

type Parse = (u: unknown, options?: SchemaTree.ParseOptions) => Effect.Effect<any, EffectParser.ParseIssue>

/**
 * Makes a decoder from Effect's decoder. The decoder also refuses the values for which Effect's decoder throws. Effect converts the member
 * that discriminates a union to a text, and throws when the member is an object with a `toString` that a peer chose. Throws for a schema
 * that Effect cannot use.
 */
export const decodeUnknown = (schema: Schema.Schema<any, any>): Parse => {
  const parse = EffectParser.decodeUnknown(schema)
  return (u, options) =>
    Either.getOrElse(Either.try({ try: () => parse(u, options), catch: (error) => error }), (error) => {
      if (!holdsToString(u, MAX_DEPTH)) throw error
      return EffectInternals.fromEither(
        Either.left(EffectParser.refused(SchemaTree.of(schema), u, "has an object in the place of a text"))
      )
    })
}

/** Makes Effect's encoder. Throws for a schema that Effect cannot use. */
export const encodeUnknown: (schema: Schema.Schema<any, any>) => Parse = EffectParser.encodeUnknown

/** Fills in the defaults of the fields that a caller may leave out. */
export const withDefaults: (schema: Schema.Schema<any, any>) => (u: unknown) => unknown = EffectParser.withDefaults

/** How deep JSON from a peer can be. */
const MAX_DEPTH = 100

const holdsToString = (value: unknown, depth: number): boolean =>
  typeof value === "object" && value !== null && depth > 0 &&
  (Object.hasOwn(value, "toString") || Object.values(value).some((inner) => holdsToString(inner, depth - 1)))

/** Makes an encoder. Throws the error of Effect's parser for a schema that it cannot use. */
export const encoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  const parse = withErrors(errors, encodeUnknown(schema))
  return plainOr(schema, () => parse)
}

/**
 * Makes a decoder that prepares Effect's parser only when a value first needs the parser. This is cheap for a schema that is used once.
 */
export const lazyDecoder = (schema: Schema.Schema<any, any>, errors: Errors): Parser => {
  let parse: Parser | undefined
  return plainOr(schema, () => parse ??= withErrors(errors, decodeUnknown(schema)))
}

const plainOr = (schema: Schema.Schema<any, any>, parser: () => Parser): Parser => {
  const plain = compilePlain(schema)
  if (plain === undefined) return (u) => parser()(u)
  return (u) => {
    const copy = plain(u)
    return copy === mismatch ? parser()(u) : EffectInternals.fromEither(Either.right(copy))
  }
}

const withErrors = (errors: Errors, parse: Parse): Parser =>
  errors === "all" ? (u) => isSmall(u) ? parse(u, { errors }) : parse(u) : parse

/** The result for a value that does not conform. */
export const mismatch: unique symbol = Symbol.for("@effect-mcp/core/definition/PlainCodec/mismatch")

/** Returns a copy of the value without the members that the schema does not name, or `mismatch`. */
export type PlainCodec = (u: unknown) => unknown

/**
 * Compiles a schema. Returns `undefined` for a schema with something other than plain data: a transformation, a class, a record, a tuple or
 * a recursive type.
 */
export const compilePlain = (schema: Schema.Schema.All): PlainCodec | undefined => make(SchemaTree.of(schema))

/**
 * Compiles plain data (no transformations) to one function that copies the members of a value that the schema names. The function returns
 * the same result as Effect's parser at a fraction of the cost, for decoding and for encoding. But it does not explain why a value does not
 * conform.
 */
const make = (ast: SchemaTree.AST): PlainCodec | undefined => {
  if (SchemaTree.changesParsing(ast)) return undefined
  switch (ast._tag) {
    case "StringKeyword":
      return (u) => typeof u === "string" ? u : mismatch
    case "NumberKeyword":
      return (u) => typeof u === "number" ? u : mismatch
    case "BooleanKeyword":
      return (u) => typeof u === "boolean" ? u : mismatch
    case "UndefinedKeyword":
      return (u) => u === undefined ? u : mismatch
    case "UnknownKeyword":
    case "AnyKeyword":
      return (u) => u
    case "Literal": {
      const { literal } = ast
      return (u) => u === literal ? u : mismatch
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

const refinement = (ast: SchemaTree.Refinement): PlainCodec | undefined => {
  const from = make(ast.from)
  if (from === undefined) return undefined
  return (u) => {
    const copy = from(u)
    return copy !== mismatch && SchemaTree.passes(ast, copy) ? copy : mismatch
  }
}

const array = (ast: SchemaTree.TupleType): PlainCodec | undefined => {
  const item = ast.elements.length === 0 && ast.rest.length === 1 ? make(ast.rest[0]!.type) : undefined
  if (item === undefined) return undefined
  return (u) => {
    if (!Array.isArray(u)) return mismatch
    const copies = new Array<unknown>(u.length)
    for (let i = 0; i < u.length; i++) {
      const copy = item(u[i])
      if (copy === mismatch) return mismatch
      copies[i] = copy
    }
    return copies
  }
}

/** As in Effect's parser, an optional member must be the object's own. */
interface Property {
  readonly name: string
  readonly optional: boolean
  readonly mustBeOwn: boolean
  readonly codec: PlainCodec
}

const struct = (ast: SchemaTree.TypeLiteral): PlainCodec | undefined => {
  // An empty struct accepts everything except null and undefined; Effect's parser handles it.
  if (ast.indexSignatures.length > 0 || ast.propertySignatures.length === 0) return undefined
  const properties: Array<Property> = []
  for (const { isOptional, name, type } of ast.propertySignatures) {
    const codec = make(type)
    if (codec === undefined || typeof name !== "string" || name === "__proto__") return undefined
    properties.push({ name, optional: isOptional, mustBeOwn: isOptional || !SchemaTree.missingIsUndefined, codec })
  }
  return (u) => {
    if (typeof u !== "object" || u === null || Array.isArray(u)) return mismatch
    const object = u as Record<string, unknown>
    const copies: Record<string, unknown> = {}
    for (let i = 0; i < properties.length; i++) {
      const { codec, mustBeOwn, name, optional } = properties[i]!
      if (mustBeOwn && !Object.hasOwn(object, name)) {
        if (optional) continue
        return mismatch
      }
      const copy = codec(object[name])
      if (copy === mismatch) return mismatch
      copies[name] = copy
    }
    return copies
  }
}

// As in Effect's parser, the member that a literal selects comes first, then the other members in order. Effect's parser handles members
// that share a literal, or that have several literals.
const union = (ast: SchemaTree.Union): PlainCodec | undefined => {
  const others: Array<PlainCodec> = []
  const byTag = new Map<SchemaTree.LiteralValue, PlainCodec>()
  const seen = new Set<string>()
  let key: PropertyKey | undefined
  for (const type of ast.types) {
    const codec = make(type)
    if (codec === undefined) return undefined
    const tag = tagOf(type)
    if (tag === undefined) {
      others.push(codec)
      continue
    }
    if (!SchemaTree.isLiteral(tag.type) || tag.name !== (key ??= tag.name)) return undefined
    const { literal } = tag.type
    if (seen.has(String(literal))) return undefined
    seen.add(String(literal))
    byTag.set(literal, codec)
  }
  const first = (u: unknown): unknown => {
    for (let i = 0; i < others.length; i++) {
      const copy = others[i]!(u)
      if (copy !== mismatch) return copy
    }
    return mismatch
  }
  if (key === undefined) return first
  const name = key
  return (u) => {
    if (typeof u === "object" && u !== null && Object.hasOwn(u, name)) {
      const copy = byTag.get((u as Record<PropertyKey, unknown>)[name] as SchemaTree.LiteralValue)?.(u) ?? mismatch
      if (copy !== mismatch) return copy
    }
    return first(u)
  }
}

/** Returns the first required field of a struct whose encoded type is a literal. */
const tagOf = (ast: SchemaTree.AST): SchemaTree.PropertySignature | undefined =>
  SchemaTree.isRefinement(ast)
    ? tagOf(ast.from)
    : SchemaTree.isTypeLiteral(ast)
    ? ast.propertySignatures.find(({ isOptional, type }) =>
      !isOptional && SchemaTree.isLiteral(SchemaTree.encoded(type))
    )
    : undefined

/**
 * How many values a small value may contain, counting the value itself and everything inside it. A peer chooses how much it sends.
 * Therefore only the first error of a large value is reported.
 */
export const SMALL = 1000

/** Whether a value is small. Stops counting as soon as the value is known to be large. */
export const isSmall = (value: unknown): boolean => remaining(value, SMALL) >= 0

const remaining = (value: unknown, budget: number): number => {
  let left = budget - 1
  if (typeof value !== "object" || value === null) return left
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = remaining(value[i], left)
    return left
  }
  for (const key in value) {
    if (left < 0) return left
    left = remaining((value as Record<string, unknown>)[key], left)
  }
  return left
}
