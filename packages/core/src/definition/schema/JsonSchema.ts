/**
 * Makes the JSON Schema (draft 2020-12) that clients get for a schema of a `Tool`, a `Prompt` or a `Form`. The JSON Schema describes the
 * encoded side of the schema, and has none of the text that Effect's filters add. Effect generates the JSON Schema. Then this module
 * corrects empty structs and references, writes patterns without flags, and adds the type `object` at the root if every value is an object.
 *
 * `tool/AdvertisedSchema` and `tool/ToolCodec` use this module for tools, and `form/FormFields` checks its result. `SchemaAnnotations`
 * generates the JSON Schema with Effect, `PatternFlags` writes the patterns, and `FilterText` recognizes the text to remove.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
import type * as Schema from "effect/Schema"
import type { JsonObject } from "../../protocol/Json.js"
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"
import * as FilterText from "./FilterText.js"
import * as PatternFlags from "./PatternFlags.js"
import * as SchemaAnnotations from "./SchemaAnnotations.js"

/**
 * Makes the JSON Schema of a schema. It allows members that the schema does not name, because decoding ignores them. A recursive type
 * becomes an entry of `$defs`, and needs an `identifier` annotation. For a recursive type without this annotation, the function throws an
 * error with the path of the type.
 */
export const make = <A, I, R>(schema: Schema.Schema<A, I, R>): JsonObject => {
  const definitions: Record<string, JsonObject> = {}
  const generated = SchemaAnnotations.generate(schema, definitions)
  const patterns = PatternFlags.ofTree(SchemaTree.of(schema))
  const names = Object.keys(definitions).sort()
  const $defs = Object.fromEntries(names.map((name) => [name, clean(definitions[name], patterns)])) as Definitions
  const root = clean(generated, patterns) as JsonObject
  return {
    ...(root.type === undefined && isAlways("object", root, $defs) ? { type: "object" } : undefined),
    ...root,
    ...(names.length > 0 ? { $defs } : undefined)
  }
}

type Definitions = Readonly<Record<string, JsonObject | undefined>>

/** Whether every value has this type: the schema names the type, or each member of its union does. */
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

/** Whether every encoded value is an object. */
export const isObject = (schema: JsonObject): schema is { readonly type: "object"; readonly [key: string]: unknown } =>
  schema.type === "object"

/** Whether every encoded value is a string. */
export const isString = (schema: JsonObject): boolean => isAlways("string", schema, (schema.$defs ?? {}) as Definitions)

/**
 * The input schema of a tool without parameters.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool
 */
export const noParameters: { readonly type: "object"; readonly additionalProperties: false } = {
  type: "object",
  additionalProperties: false
}

// The values of these keywords are data, not schemas.
const data = new Set(["const", "default", "enum", "examples", "required"])

/**
 * For each regular expression whose flags change its pattern: what the JSON Schema has in place of the pattern. The keys are the sources of
 * the expressions.
 */
type Patterns = ReturnType<typeof PatternFlags.ofTree>

const clean = (node: unknown, patterns: Patterns): unknown => {
  if (Array.isArray(node)) return node.map((one) => clean(one, patterns))
  if (typeof node !== "object" || node === null) return node
  const schema = withoutFlags(node as Record<string, unknown>, patterns)
  const isEmptyStruct = schema.$id === EMPTY_STRUCT
  const text = schema.title === undefined && schema.description === undefined
    ? FilterText.none
    : FilterText.make(schema)
  const cleaned: Record<string, unknown> = isEmptyStruct ? { type: "object" } : {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id" || key === "$comment" || isRedundant(key, value, text) || (isEmptyStruct && key === "anyOf")) {
      continue
    }
    cleaned[key] = key === "properties" || key === "patternProperties"
      // The names of properties are not keywords.
      ? Object.fromEntries(Object.entries(value as object).map(([name, property]) => [name, clean(property, patterns)]))
      : key === "pattern"
      ? text.pattern ?? value
      : key === "$ref"
      ? toUri(value)
      : data.has(key)
      ? value
      : clean(value, patterns)
  }
  return cleaned
}

/**
 * Returns a node in which the pattern is written without its flags. If Effect's description repeats the pattern, the new description
 * repeats the new pattern, or names the flags.
 */
const withoutFlags = (node: Record<string, unknown>, patterns: Patterns): Record<string, unknown> => {
  const { pattern, ...rest } = node
  const found = typeof pattern === "string" ? patterns.get(pattern) : undefined
  if (found === undefined) return node
  const description = node.description === FilterText.ofPattern(found.source)
    ? FilterText.ofPattern(found.pattern ?? found.text)
    : node.description
  return {
    ...rest,
    ...(description === undefined ? undefined : { description }),
    ...(found.pattern === undefined ? undefined : { pattern: found.pattern })
  }
}

const toUri = ($ref: unknown): unknown => {
  const name = SchemaAnnotations.definitionOf($ref)
  return name === undefined ? $ref : SchemaAnnotations.reference(name)
}

// The id with which Effect marks an empty struct. In Effect an empty struct accepts everything except null and undefined.
const EMPTY_STRUCT = "/schemas/%7B%7D"

const isRedundant = (key: string, value: unknown, text: FilterText.FilterText): boolean =>
  key === "additionalProperties"
    ? value === true
    : key === "required" || key === "properties"
    ? Object.keys(value as object).length === 0
    : key === "title"
    ? text.titles.has(value)
    : key === "description"
    ? text.descriptions.has(value)
    : false
