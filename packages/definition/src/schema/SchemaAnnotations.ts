/**
 * What Effect generates of a schema, with all that its author says of it: Effect leaves out the title, description,
 * examples and default of a filter that has no JSON Schema of its own or stands on top of a transformation (`Schema.Date`
 * does). What is generated is mended in `JsonSchema`.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as JSONSchema from "effect/JSONSchema"
import * as Predicate from "effect/Predicate"
import * as AST from "effect/SchemaAST"
import * as FilterText from "./FilterText.js"

const PATH = "#/$defs/"

/**
 * The JSON Schema of an encoded side. Types that refer to themselves are put into `definitions`.
 *
 * @since 0.1.0
 * @category conversions
 */
export const generate = (ast: AST.AST, definitions: Record<string, JSONSchema.JsonSchema7>): JsonObject => {
  const raw = (ast: AST.AST) =>
    JSONSchema.fromAST(ast, {
      definitions,
      definitionPath: PATH,
      target: "jsonSchema2020-12",
      topLevelReferenceStrategy: "skip",
      additionalPropertiesStrategy: "allow"
    }) as unknown as JsonObject
  const seen = new Set<string>()

  const authored = (ast: AST.AST, json: JsonObject): JsonObject => {
    if ("$ref" in json) {
      const name = definitionOf(json.$ref)
      if (AST.isSuspend(ast) && name !== undefined && !seen.has(name)) {
        seen.add(name)
        const definition = definitions[name] as unknown as JsonObject
        definitions[name] = authored(ast.f(), definition) as unknown as JSONSchema.JsonSchema7
      }
      return json
    }
    switch (ast._tag) {
      case "Refinement":
        return { ...authored(ast.from, json), ...wordsOf(ast, raw) }
      case "Transformation":
        return authored(ast.from, json)
      case "TypeLiteral":
        return struct(ast, json)
      case "TupleType": {
        const { items, prefixItems } = json
        return {
          ...json,
          ...(Array.isArray(prefixItems)
            ? { prefixItems: prefixItems.map((item, i) => authored(ast.elements[i]!.type, item)) }
            : undefined),
          ...(isSchema(items) && ast.rest[0] !== undefined
            ? { items: authored(ast.rest[0].type, items) }
            : undefined)
        }
      }
      case "Union": {
        const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
        if (types.length === 1) return authored(types[0]!, json)
        // Members that are alike have become one.
        return Array.isArray(json.anyOf) && json.anyOf.length === types.length
          ? { ...json, anyOf: json.anyOf.map((one, i) => authored(types[i]!, one)) }
          : json
      }
      default:
        return json
    }
  }

  const struct = (ast: AST.TypeLiteral, json: JsonObject): JsonObject => {
    const { additionalProperties, properties } = json
    const types = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
    const rest = ast.indexSignatures[0]
    return {
      ...json,
      ...(isSchema(properties)
        ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => {
              const type = types.get(name)
              return [name, type === undefined ? property : authored(type, property as JsonObject)]
            })
          )
        }
        : undefined),
      ...(isSchema(additionalProperties) && rest !== undefined
        ? { additionalProperties: authored(rest.type, additionalProperties) }
        : undefined)
    }
  }

  return authored(ast, raw(ast))
}

const isSchema = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/**
 * The name of the definition that a reference means, as Effect writes references: a pointer that is no URI yet.
 *
 * @since 0.1.0
 * @category getters
 */
export const definitionOf = ($ref: unknown): string | undefined =>
  typeof $ref === "string" && $ref.startsWith(PATH)
    ? $ref.slice(PATH.length).replace(/~1/g, "/").replace(/~0/g, "~")
    : undefined

/**
 * The reference to a definition, as a URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reference = (name: string): string =>
  PATH + encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))

const keywords = [
  ["title", AST.TitleAnnotationId],
  ["description", AST.DescriptionAnnotationId],
  ["examples", AST.ExamplesAnnotationId],
  ["default", AST.DefaultAnnotationId]
] as const

/** What an author says of a filter, as keywords. Effect generates them: examples and defaults are to be encoded. */
const wordsOf = (ast: AST.Refinement, raw: (ast: AST.AST) => JsonObject): JsonObject | undefined => {
  const { annotations } = ast
  const hook = annotations[AST.JSONSchemaAnnotationId] ?? {}
  const builtIn = FilterText.make(hook as JsonObject)
  const said = keywords.filter(([, id]) =>
    annotations[id] !== undefined && !builtIn.titles.has(annotations[id]) && !builtIn.descriptions.has(annotations[id])
  )
  if (said.length === 0) return undefined
  const below = transformationBelow(ast)
  const json = raw(
    below === undefined
      ? new AST.Refinement(ast.from, ast.filter, { ...annotations, [AST.JSONSchemaAnnotationId]: hook })
      : new AST.Transformation(below.from, below.to, below.transformation, {
        ...below.annotations,
        ...Object.fromEntries(said.map(([, id]) => [id, annotations[id]]))
      })
  )
  return Object.fromEntries(said.flatMap(([keyword]) => json[keyword] === undefined ? [] : [[keyword, json[keyword]]]))
}

const transformationBelow = (ast: AST.AST): AST.Transformation | undefined =>
  AST.isRefinement(ast) ? transformationBelow(ast.from) : AST.isTransformation(ast) ? ast : undefined
