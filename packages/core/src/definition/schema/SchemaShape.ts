/**
 * Answers the questions that `Tool`, `Prompt`, `ResourceTemplate` and `Form` have about a schema: whether it has no value (`Schema.Never`)
 * or only the value `undefined` (`Schema.Void`), which fields it has, which of its fields are strings, and which strings a field may be.
 * `AdvertisedSchema` and `ToolCodec` ask whether a schema has values. `SchemaParser` decodes with a schema, and `JsonSchema` describes it.
 */
import type * as Schema from "effect/Schema"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"

type Any = Schema.Schema.All

export const isNever = (schema: Any): boolean => SchemaTree.isNeverKeyword(SchemaTree.of(schema))

export const isVoid = (schema: Any): boolean => {
  const ast = SchemaTree.of(schema)
  return SchemaTree.isVoidKeyword(ast) || SchemaTree.isUndefinedKeyword(ast)
}

/** Whether the schema is a struct without fields. */
export const isEmpty = (schema: Any): boolean => {
  const ast = SchemaTree.of(schema)
  return SchemaTree.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0
}

/** Returns the names of the fields of a struct whose values Effect converts when it decodes them. */
export const transformed = (schema: Any): ReadonlySet<PropertyKey> => {
  const ast = SchemaTree.of(schema)
  const struct = SchemaTree.isTransformation(ast) ? ast.from : ast
  const fields = SchemaTree.isTypeLiteral(struct) ? struct.propertySignatures : []
  return new Set(fields.filter(({ type }) => isTransformed(type)).map(({ name }) => name))
}

const isTransformed = (ast: SchemaTree.AST): boolean =>
  SchemaTree.isTransformation(ast) ||
  (SchemaTree.isRefinement(ast) && isTransformed(ast.from)) ||
  (SchemaTree.isUnion(ast) && ast.types.some(isTransformed))

/** A field, as its encoded side describes it. */
export interface Field {
  readonly name: PropertyKey
  readonly isString: boolean
  readonly isOptional: boolean
}

/** Returns the fields of a struct. */
export const encodedFields = (schema: Any): ReadonlyArray<Field> =>
  SchemaTree.fields(SchemaTree.encoded(SchemaTree.of(schema))).map(({ isOptional, name, type }) => ({
    name,
    isString: isString(type),
    isOptional
  }))

const isString = (ast: SchemaTree.AST): boolean => {
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return true
    case "Literal":
      return typeof ast.literal === "string"
    case "Refinement":
      return isString(ast.from)
    case "Enums":
      return ast.enums.every(([, value]) => typeof value === "string")
    case "Union":
      // The encoder leaves out an optional argument whose value is `undefined`.
      return ast.types.every((type) => SchemaTree.isUndefinedKeyword(type) || isString(type))
    default:
      return false
  }
}

/**
 * Returns the allowed strings of the fields of a struct, in the order of their schemas, by the encoded names of the fields. The map has
 * only the fields whose schema allows only certain strings. The server's completion offers these strings.
 */
export const enumValues = (schema: Any): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    SchemaTree.fields(SchemaTree.encodedBound(SchemaTree.of(schema))).flatMap(({ name, type }) => {
      const values = stringsOf(type)
      return values === undefined || values.length === 0 ? [] : [[String(name), [...new Set(values)]] as const]
    })
  )

const stringsOf = (ast: SchemaTree.AST): ReadonlyArray<string> | undefined => {
  switch (ast._tag) {
    case "Literal":
      return typeof ast.literal === "string" ? [ast.literal] : undefined
    case "Enums":
      return flatten(ast.enums.map(([, value]) => typeof value === "string" ? [value] : undefined))
    case "Union":
      // An optional field may be `undefined`, which is not a string to offer.
      return flatten(ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type)).map(stringsOf))
    case "Refinement":
      return stringsOf(ast.from)?.filter((value) => SchemaTree.passes(ast, value))
    default:
      return undefined
  }
}

const flatten = (members: ReadonlyArray<ReadonlyArray<string> | undefined>): ReadonlyArray<string> | undefined =>
  members.every((values) => values !== undefined) ? members.flat() : undefined
