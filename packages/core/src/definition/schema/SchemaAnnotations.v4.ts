/**
 * Generates JSON Schema with Effect, which in version 4 has the texts, examples and defaults of each part of a schema. This module
 * takes away what version 4 adds: `null` where a member may be `undefined`, and the bounds of safe integers.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../protocol/Json.js"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"

const PATH = "#/$defs/"

/** The JSON Schema of the encoded side. Recursive types are put into `definitions`. */
export const generate = (schema: Schema.Top, definitions: Record<string, JsonObject>): JsonObject => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "ignore" })
  Object.assign(definitions, document.definitions)
  const { $schema: _, ...root } = document.schema as JsonObject
  // A named type at the top stands there, and not in the definitions.
  const name = definitionOf(root.$ref)
  const found = name === undefined ? root : definitions[name]!
  return plain(SchemaTree.encoded(SchemaTree.of(schema)), found)
}

const plain = (ast: SchemaTree.AST, json: JsonObject): JsonObject => {
  switch (ast._tag) {
    case "Refinement":
      return withoutBounds(plain(ast.from, json))
    case "Transformation":
      return plain(ast.from, json)
    case "TypeLiteral": {
      if (Predicate.hasProperty(json, "not")) return { type: "object" }
      const { properties } = json
      const types = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
      return !Predicate.isObject(properties) ? json : {
        ...json,
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, one]) => {
            const type = types.get(name)
            return [name, type === undefined ? one : plain(type, one as JsonObject)]
          })
        )
      }
    }
    case "TupleType": {
      const { items } = json
      return Predicate.isObject(items) && ast.rest[0] !== undefined
        ? { ...json, items: plain(ast.rest[0].type, items as JsonObject) }
        : json
    }
    case "Union": {
      const { anyOf, ...rest } = json
      const types = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
      if (!Array.isArray(anyOf)) return json
      const isNullable = types.length === ast.types.length ||
        types.some((type) => SchemaTree.isLiteral(type) && type.literal === null)
      const members: ReadonlyArray<JsonObject> = isNullable ? anyOf : anyOf.filter((one) => one.type !== "null")
      const kept = members.length === types.length ? members.map((one, i) => plain(types[i]!, one)) : members
      return kept.length === 1 ? { ...kept[0], ...rest } : { ...rest, anyOf: kept }
    }
    default:
      return withoutBounds(json)
  }
}

const withoutBounds = (json: JsonObject): JsonObject => {
  if (json.type !== "integer") return json
  const { maximum, minimum, ...rest } = json
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : { maximum })
  }
}

/** The name of the definition that a reference of Effect's points to: a JSON Pointer, not yet encoded as a URI. */
export const definitionOf = ($ref: unknown): string | undefined =>
  typeof $ref === "string" && $ref.startsWith(PATH)
    ? $ref.slice(PATH.length).replace(/~1/g, "/").replace(/~0/g, "~")
    : undefined

/** The reference to a definition, as a URI. */
export const reference = (name: string): string =>
  PATH + encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))
