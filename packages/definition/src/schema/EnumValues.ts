/**
 * The strings that a field may be, where its schema allows only certain strings: a literal, a union of literals, an
 * enumeration. Prompts and resource templates publish them as `enumValues`, and the server's completion offers them.
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** The strings of each such field of a struct, in the schema's order, by the encoded name of the field. */
export const make = (schema: Schema.Schema.All): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    AST.getPropertySignatures(AST.encodedBoundAST(schema.ast)).flatMap(({ name, type }) => {
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
