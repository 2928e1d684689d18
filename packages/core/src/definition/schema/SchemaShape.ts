/**
 * What the definitions need to know of a schema: whether it has values and fields, which of its fields are strings, and which
 * strings these fields may be. `SchemaParser` decodes with a schema, `JsonSchema` describes a schema.
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

type Any = Schema.Schema.All

export const isNever = ({ ast }: Any): boolean => AST.isNeverKeyword(ast)

export const isVoid = ({ ast }: Any): boolean => AST.isVoidKeyword(ast) || AST.isUndefinedKeyword(ast)

/** Whether the schema is a struct without fields. */
export const isEmpty = ({ ast }: Any): boolean =>
  AST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0

/** The names of the fields of a struct whose values Effect decodes. */
export const transformed = ({ ast }: Any): ReadonlySet<PropertyKey> => {
  const struct = AST.isTransformation(ast) ? ast.from : ast
  const fields = AST.isTypeLiteral(struct) ? struct.propertySignatures : []
  return new Set(fields.filter(({ type }) => isTransformed(type)).map(({ name }) => name))
}

const isTransformed = (ast: AST.AST): boolean =>
  AST.isTransformation(ast) ||
  (AST.isRefinement(ast) && isTransformed(ast.from)) ||
  (AST.isUnion(ast) && ast.types.some(isTransformed))

/** A field as it is encoded. */
export interface Field {
  readonly name: PropertyKey
  readonly isString: boolean
  readonly isOptional: boolean
}

/** The fields of a struct. */
export const encodedFields = ({ ast }: Any): ReadonlyArray<Field> =>
  AST.getPropertySignatures(AST.encodedAST(ast)).map(({ isOptional, name, type }) => ({
    name,
    isString: isString(type),
    isOptional
  }))

const isString = (ast: AST.AST): boolean => {
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
      // The encoder leaves out an optional argument that is `undefined`.
      return ast.types.every((type) => AST.isUndefinedKeyword(type) || isString(type))
    default:
      return false
  }
}

/**
 * The strings that a field of a struct may be, in the order of its schema, for each field whose schema allows only certain
 * strings, by the encoded name of the field. The server's completion offers these strings.
 */
export const enumValues = ({ ast }: Any): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    AST.getPropertySignatures(AST.encodedBoundAST(ast)).flatMap(({ name, type }) => {
      const values = stringsOf(type)
      return values === undefined || values.length === 0 ? [] : [[String(name), [...new Set(values)]] as const]
    })
  )

const stringsOf = (ast: AST.AST): ReadonlyArray<string> | undefined => {
  switch (ast._tag) {
    case "Literal":
      return typeof ast.literal === "string" ? [ast.literal] : undefined
    case "Enums":
      return flatten(ast.enums.map(([, value]) => typeof value === "string" ? [value] : undefined))
    case "Union":
      // An optional field may be `undefined`, which is not a string to offer.
      return flatten(ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(stringsOf))
    case "Refinement":
      return stringsOf(ast.from)?.filter((value) => Option.isNone(ast.filter(value, AST.defaultParseOption, ast)))
    default:
      return undefined
  }
}

const flatten = (members: ReadonlyArray<ReadonlyArray<string> | undefined>): ReadonlyArray<string> | undefined =>
  members.every((values) => values !== undefined) ? members.flat() : undefined
