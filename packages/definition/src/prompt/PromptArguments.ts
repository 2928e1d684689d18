/**
 * What a prompt advertises of its arguments: their names, what is said of them, and whether they must be there. On the wire
 * an argument is a string, whatever its schema makes of it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#data-types
 * @since 0.1.0
 */
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonSchema from "../schema/JsonSchema.js"

/**
 * The arguments of a prompt of this name. Throws when one has no name or is no string on the wire, and says which.
 *
 * @since 0.1.0
 * @category conversions
 */
export const make = (name: string, schema: Schema.Schema<any, any>): ReadonlyArray<Prompts.PromptArgument> => {
  const encoded = AST.getPropertySignatures(AST.encodedAST(schema.ast))
  for (const property of encoded) {
    if (typeof property.name !== "string" || property.name.trim() === "" || property.name === "__proto__") {
      throw new Error(`Prompt "${name}": an argument cannot be named "${String(property.name)}"`)
    }
    if (!isText(property.type)) {
      throw new Error(`Prompt "${name}": its argument "${property.name}" must be a string on the wire`)
    }
  }
  const { properties } = JsonSchema.make(schema) as { readonly properties?: Properties }
  return encoded.map((property) => {
    const key = String(property.name)
    const json = properties?.[key]
    const said = Option.getOrUndefined(AST.getDescriptionAnnotation(property)) ?? json?.description
    const title = Option.getOrUndefined(AST.getTitleAnnotation(property)) ?? json?.title
    return {
      name: key,
      ...(title === undefined ? undefined : { title }),
      ...(said === undefined ? undefined : { description: said }),
      required: !property.isOptional
    }
  })
}

type Properties = { readonly [name: string]: { readonly description?: string; readonly title?: string } }

const isText = (ast: AST.AST): boolean => {
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return true
    case "Literal":
      return typeof ast.literal === "string"
    case "Refinement":
      return isText(ast.from)
    case "Enums":
      return ast.enums.every(([, value]) => typeof value === "string")
    case "Union":
      // An optional argument may be `undefined` before it is left out.
      return ast.types.every((type) => AST.isUndefinedKeyword(type) || isText(type))
    default:
      return false
  }
}
