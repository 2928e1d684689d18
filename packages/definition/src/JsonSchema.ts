/**
 * What a schema advertises: JSON Schema, draft 2020-12, of its encoded side, without the marks of the library that made
 * it. What Effect generates is right but for an empty struct and a few annotations; those are mended here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * The JSON Schema of a schema's encoded side.
 *
 * Members that are not named stay allowed: decoding ignores them. Types that refer to themselves become `$defs`, and need
 * an `identifier` annotation; without one this throws, and says where.
 *
 * @since 0.1.0
 * @category conversions
 */
export const make = <A, I, R>(schema: Schema.Schema<A, I, R>): JsonObject => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(schema.ast, {
    definitions,
    definitionPath: "#/$defs/",
    target: "jsonSchema2020-12",
    topLevelReferenceStrategy: "skip",
    additionalPropertiesStrategy: "allow"
  })
  // Only what is referred to: Effect also defines what it has inlined.
  const used = new Set<string>()
  const reach = (node: unknown): void => {
    for (const name of references(node)) {
      if (!used.has(name)) {
        used.add(name)
        reach(definitions[name])
      }
    }
  }
  reach(root)
  const $defs = Object.fromEntries([...used].sort().map((name) => [name, mend(definitions[name])]))
  return { ...(mend(root) as JsonObject), ...(used.size > 0 ? { $defs } : undefined) }
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
export const isString = (schema: JsonObject): boolean => schema.type === "string"

/**
 * The schema of no parameters at all.
 *
 * @since 0.1.0
 * @category constants
 */
export const noParameters: { readonly type: "object"; readonly additionalProperties: false } = {
  type: "object",
  additionalProperties: false
}

const mend = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(mend)
  if (typeof node !== "object" || node === null) return node
  const schema = node as Record<string, unknown>
  if (schema.$id === "/schemas/%7B%7D") return { ...documentation(schema), ...noParameters }
  const mended: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id" || key === "$comment" || isNoise(key, value, schema)) continue
    // The names of properties are not keywords, and what stands under these keywords is data.
    mended[key] = key === "properties" || key === "patternProperties"
      ? Object.fromEntries(Object.entries(value as object).map(([name, property]) => [name, mend(property)]))
      : key === "enum" || key === "default" || key === "examples" || key === "required"
      ? value
      : mend(value)
  }
  return mended
}

const documentation = ({ description, title }: Record<string, unknown>): Record<string, unknown> => ({
  ...(typeof title === "string" ? { title } : undefined),
  ...(typeof description === "string" ? { description } : undefined)
})

const isNoise = (key: string, value: unknown, schema: Record<string, unknown>): boolean =>
  key === "additionalProperties"
    ? value === true
    : key === "required"
    ? (value as ReadonlyArray<unknown>).length === 0
    : key === "title"
    ? isBuiltIn(value)
    : key === "description"
    ? isBuiltInDescription(value, schema.title)
    : false

// What the built-in filters call themselves repeats their keywords (`"title": "between(0, 5)"`) and costs a model tokens.
const builtIn = /^(?:int|finite|nonNaN|positive|negative|nonPositive|nonNegative|nonEmptyString|trimmed|lowercased|uppercased|capitalized|uncapitalized|unknown|any|void|object|(?:between|greaterThan|greaterThanOrEqualTo|lessThan|lessThanOrEqualTo|multipleOf|minLength|maxLength|length|pattern|startsWith|endsWith|includes|minItems|maxItems|itemsCount)\(.*\))$/s

const builtInDescription =
  /^(?:an integer|an? (?:non[- ])?(?:finite|positive|negative|empty|NaN)\b.*|a number (?:between|greater|less|divisible|excluding)\b.*|a string (?:at (?:least|most)|matching|starting|ending|including)\b.*|a single character|an array of (?:at (?:least|most)|exactly)\b.*|an object in the TypeScript meaning.*)$/s

const isBuiltIn = (title: unknown): boolean => typeof title === "string" && builtIn.test(title)

const isBuiltInDescription = (description: unknown, title: unknown): boolean =>
  isBuiltIn(title) && typeof description === "string" && builtInDescription.test(description)

const references = (node: unknown): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap(references)
  if (typeof node !== "object" || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" && value.startsWith("#/$defs/")
      ? [decodeURIComponent(value.slice("#/$defs/".length)).replace(/~1/g, "/").replace(/~0/g, "~")]
      : references(value)
  )
}

/**
 * Why a schema cannot be advertised; `undefined` when it can.
 *
 * @since 0.1.0
 * @category predicates
 */
export const problem = (schema: Schema.Schema.All): string | undefined =>
  AST.isNeverKeyword(schema.ast) ? "a schema of nothing" : undefined
