/**
 * What a value may be on the wire, where it is one of finitely many strings: the choices of a literal, of a union of
 * literals, of an enumeration. What a server completes for whoever types an argument comes from here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * The choices of each field that has any, in the order in which its schema names them; by the names of the wire.
 *
 * @since 0.1.0
 * @category models
 */
export type EnumValues = ReadonlyMap<string, ReadonlyArray<string>>

/**
 * The choices of the fields of a struct.
 *
 * @since 0.1.0
 * @category conversions
 */
export const make = (schema: Schema.Schema.All): EnumValues =>
  new Map(
    AST.getPropertySignatures(AST.encodedBoundAST(schema.ast)).flatMap(({ name, type }) => {
      const choices = stringsOf(type)
      return choices === undefined || choices.length === 0 ? [] : [[String(name), [...new Set(choices)]] as const]
    })
  )

const stringsOf = (ast: AST.AST): ReadonlyArray<string> | undefined => {
  switch (ast._tag) {
    case "Literal":
      return typeof ast.literal === "string" ? [ast.literal] : undefined
    case "Enums":
      return allOf(ast.enums.map(([, value]) => typeof value === "string" ? [value] : undefined))
    case "Union":
      // What is optional may be nothing, which nobody types.
      return allOf(ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(stringsOf))
    case "Refinement":
      return stringsOf(ast.from)?.filter((choice) => Option.isNone(ast.filter(choice, AST.defaultParseOption, ast)))
    default:
      return undefined
  }
}

const allOf = (some: ReadonlyArray<ReadonlyArray<string> | undefined>): ReadonlyArray<string> | undefined =>
  some.every((choices) => choices !== undefined) ? some.flat() : undefined
