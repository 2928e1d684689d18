/**
 * The arguments that a prompt advertises: name, title, description and whether each is required, taken from the fields
 * of its schema. MCP sends every argument as a string, so each field must be encoded as one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#data-types
 */
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonSchema from "../schema/JsonSchema.js"
import { quoted } from "../text/Quoted.js"

/** Throws when an argument has no usable name or is not encoded as a string; the error names the prompt. */
export const make = (prompt: string, schema: Schema.Schema<any, any>): ReadonlyArray<Prompts.PromptArgument> => {
  const encoded = AST.getPropertySignatures(AST.encodedAST(schema.ast))
  for (const { name, type } of encoded) {
    if (typeof name !== "string" || name.trim() === "" || name === "__proto__") {
      throw new Error(
        `Prompt ${quoted(prompt)}: rename the argument ${quoted(String(name))}: ` +
          `a name is a string, not empty, and not "__proto__"`
      )
    }
    if (!isString(type)) {
      throw new Error(
        `Prompt ${quoted(prompt)}: the argument ${quoted(name)} must be encoded as a string: ` +
          "use a schema that decodes strings, such as Schema.NumberFromString"
      )
    }
  }
  const { properties } = JsonSchema.make(schema) as { readonly properties?: Properties }
  return encoded.map((property) => {
    const name = String(property.name)
    const json = properties?.[name]
    const title = Option.getOrUndefined(AST.getTitleAnnotation(property)) ?? json?.title
    const description = Option.getOrUndefined(AST.getDescriptionAnnotation(property)) ?? json?.description
    return {
      name,
      ...(title === undefined ? undefined : { title }),
      ...(description === undefined ? undefined : { description }),
      required: !property.isOptional
    }
  })
}

type Properties = { readonly [name: string]: { readonly description?: string; readonly title?: string } }

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
