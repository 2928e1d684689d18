/**
 * What a schema advertises: JSON Schema, draft 2020-12, of its encoded side, without the marks of the library that made
 * it. What Effect generates is right but for empty structs, unions at the root and a few annotations; those are mended
 * here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as FilterText from "./FilterText.js"
import * as SchemaAnnotations from "./SchemaAnnotations.js"

/**
 * The JSON Schema of a schema's encoded side. What is an object whatever its value says so at the root, also where it is a
 * union.
 *
 * Members that are not named stay allowed: decoding ignores them. Types that refer to themselves become `$defs`, and need
 * an `identifier` annotation; without one this throws, and says where.
 *
 * @since 0.1.0
 * @category conversions
 */
export const make = <A, I, R>(schema: Schema.Schema<A, I, R>): JsonObject => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = SchemaAnnotations.generate(schema.ast, definitions)
  const defined = Object.keys(definitions).sort()
  const $defs = Object.fromEntries(defined.map((name) => [name, mend(definitions[name])])) as Definitions
  const mended = mend(root) as JsonObject
  return {
    ...(mended.type === undefined && isAlways("object", mended, $defs) ? { type: "object" } : undefined),
    ...mended,
    ...(defined.length > 0 ? { $defs } : undefined)
  }
}

type Definitions = Readonly<Record<string, JsonObject | undefined>>

/** Whether every value is of this type: the schema says so, or each member of a union does. */
const isAlways = (
  type: string,
  schema: JsonObject,
  definitions: Definitions,
  seen: ReadonlyArray<string> = []
): boolean => {
  const { $ref, anyOf } = schema
  if (schema.type !== undefined) return schema.type === type
  const name = typeof $ref === "string"
    ? Object.keys(definitions).find((name) => SchemaAnnotations.reference(name) === $ref)
    : undefined
  if (name !== undefined) {
    const definition = definitions[name]
    return seen.includes(name) ||
      (definition !== undefined && isAlways(type, definition, definitions, [...seen, name]))
  }
  return Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every((one) => isAlways(type, one, definitions, seen))
}

/**
 * Whether values of the schema are objects on the wire, whatever their value.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isObject = (schema: JsonObject): schema is { readonly type: "object"; readonly [key: string]: unknown } =>
  schema.type === "object"

/**
 * Whether values of the schema are strings on the wire, whatever their value.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isString = (schema: JsonObject): boolean => isAlways("string", schema, (schema.$defs ?? {}) as Definitions)

/**
 * The schema of no parameters at all.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool
 * @since 0.1.0
 * @category constants
 */
export const noParameters: { readonly type: "object"; readonly additionalProperties: false } = {
  type: "object",
  additionalProperties: false
}

// What stands under these keywords is data.
const data = new Set(["const", "default", "enum", "examples", "required"])

const mend = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(mend)
  if (typeof node !== "object" || node === null) return node
  const schema = node as Record<string, unknown>
  const { $id } = schema
  const words = FilterText.make(schema)
  const mended: Record<string, unknown> = $id === EMPTY ? { type: "object" } : {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id" || key === "$comment" || isNoise(key, value, words) || ($id === EMPTY && key === "anyOf")) {
      continue
    }
    // The names of properties are not keywords.
    mended[key] = key === "properties" || key === "patternProperties"
      ? Object.fromEntries(Object.entries(value as object).map(([name, property]) => [name, mend(property)]))
      : key === "pattern"
      ? words.pattern ?? value
      : key === "$ref"
      ? uriOf(value)
      : data.has(key)
      ? value
      : mend(value)
  }
  return mended
}

const uriOf = ($ref: unknown): unknown => {
  const name = SchemaAnnotations.definitionOf($ref)
  return name === undefined ? $ref : SchemaAnnotations.reference(name)
}

// An empty struct, which Effect takes for anything but null.
const EMPTY = "/schemas/%7B%7D"

const isNoise = (key: string, value: unknown, words: FilterText.FilterText): boolean =>
  key === "additionalProperties"
    ? value === true
    : key === "required" || key === "properties"
    ? Object.keys(value as object).length === 0
    : key === "title"
    ? words.titles.has(value)
    : key === "description"
    ? words.descriptions.has(value)
    : false

/**
 * Why a schema cannot be advertised; `undefined` when it can.
 *
 * @since 0.1.0
 * @category predicates
 */
export const problem = (schema: Schema.Schema.All): string | undefined =>
  AST.isNeverKeyword(schema.ast) ? "a schema of nothing" : undefined
