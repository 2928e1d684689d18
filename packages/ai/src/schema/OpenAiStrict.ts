/**
 * The dialect of OpenAI's "strict" functions and structured outputs: every property is required, no further property is allowed, and an
 * optional property may be null. Some schemas have no strict form. The module also removes nulls from the arguments that a model wrote
 * by the strict form, and completes schemas for functions that are not strict.
 *
 * The input has no references: `Inlining` has replaced them.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Keywords from "./Keywords.js"
import * as SchemaParts from "./SchemaParts.js"

const MAX_DEPTH = 10
const MAX_PROPERTIES = 5000

const kept = [
  "type",
  "description",
  "enum",
  "const",
  "pattern",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems"
]
const formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]
const inWords = ["default", "minLength", "maxLength", "uniqueItems"]

/** `undefined` when the schema has no strict form. */
export const make = (root: JsonObject): JsonObject | undefined => {
  let count = 0

  const visit = (schema: unknown, depth: number): JsonObject | undefined => {
    if (!SchemaParts.isObject(schema) || depth > MAX_DEPTH) return undefined
    const alternatives = [...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)]
    const rest = Keywords.inWords(
      SchemaParts.fromEntries(Object.entries(schema).filter(([key]) => kept.includes(key))),
      schema,
      formats.includes(schema.format as string) ? inWords : [...inWords, "format"]
    )
    if (alternatives.length > 0) {
      // The dialect ignores keywords beside `anyOf`: the model would leave out the properties, and the server refuse the call.
      if (Keywords.properties(schema).size > 0 || SchemaParts.strings(schema.required).length > 0) return undefined
      const anyOf = alternatives.map((one) => visit(one, depth + 1))
      return anyOf.includes(undefined)
        ? undefined
        : { ...(rest.description === undefined ? undefined : { description: rest.description }), anyOf }
    }
    const given = Keywords.types(schema)
    if (given.length === 0) return "enum" in schema || "const" in schema ? rest : undefined
    if (given.includes("object")) return object(schema, rest, depth)
    if (given.includes("array")) {
      const items = visit(schema.items, depth + 1)
      return items === undefined ? undefined : { ...rest, items }
    }
    return formats.includes(schema.format as string) ? { ...rest, format: schema.format } : rest
  }

  const object = (schema: JsonObject, rest: JsonObject, depth: number): JsonObject | undefined => {
    const named = Keywords.properties(schema)
    const isMap = schema.patternProperties !== undefined || SchemaParts.isObject(schema.additionalProperties) ||
      schema.additionalProperties === true
    // A root without properties means no arguments. Any other object without properties may have any members.
    if (isMap || (named.size === 0 && depth > 0 && schema.additionalProperties !== false)) return undefined
    count += named.size
    if (count > MAX_PROPERTIES) return undefined
    const required = new Set(SchemaParts.strings(schema.required))
    const entries: Array<[string, JsonObject]> = []
    for (const [name, property] of named) {
      const one = visit(property, depth + 1)
      if (one === undefined) return undefined
      entries.push([name, required.has(name) ? one : nullable(one)])
    }
    return {
      ...rest,
      properties: SchemaParts.fromEntries(entries),
      required: [...named.keys()],
      additionalProperties: false
    }
  }

  return visit(root, 0)
}

/** The schema, with `items` in every array: the API refuses an array without `items`. */
export const withItems = (schema: JsonObject): JsonObject =>
  SchemaParts.fromEntries(
    Object.entries(
      Keywords.types(schema).includes("array") && schema.items === undefined ? { ...schema, items: {} } : schema
    )
      .map(([key, value]) => [key, eachWithItems(key, value)])
  )

const eachWithItems = (key: string, value: unknown): unknown =>
  key === "properties" && SchemaParts.isObject(value)
    ? SchemaParts.fromEntries(
      Object.entries(value).map(([name, one]) => [name, SchemaParts.isObject(one) ? withItems(one) : one])
    )
    : (key === "items" || key === "additionalProperties") && SchemaParts.isObject(value)
    ? withItems(value)
    : (key === "anyOf" || key === "oneOf") && Array.isArray(value)
    ? value.map((one) => SchemaParts.isObject(one) ? withItems(one) : one)
    : value

const nullable = (schema: JsonObject): JsonObject => {
  if (Keywords.types(schema).includes("null")) return schema
  if (schema.type === undefined || "const" in schema) {
    const { description, ...rest } = schema
    return {
      ...(description === undefined ? undefined : { description }),
      anyOf: [...(schema.anyOf === undefined ? [rest] : Keywords.schemas(schema.anyOf)), { type: "null" }]
    }
  }
  return {
    ...schema,
    type: [...Keywords.types(schema), "null"],
    ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : undefined)
  }
}

/**
 * The arguments that a model wrote by the strict form, without the nulls that stand for absent properties. `schema` is the original
 * schema, without references.
 */
export const withoutNulls = (value: unknown, schema: JsonObject): unknown => {
  if (Array.isArray(value)) {
    const { items } = schema
    return SchemaParts.isObject(items) ? value.map((item) => withoutNulls(item, items)) : value
  }
  if (!SchemaParts.isObject(value)) return value
  const all = [schema, ...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)].map((one) => ({
    named: Keywords.properties(one),
    required: new Set(SchemaParts.strings(one.required))
  }))
  return SchemaParts.fromEntries(
    Object.entries(value).flatMap(([name, member]): Array<[string, unknown]> => {
      const owners = all.filter(({ named }) => named.has(name))
      const [first, ...others] = owners.map(({ named }) => named.get(name)!)
      const isOptional = owners.some(({ required }) => !required.has(name))
      if (first === undefined) return [[name, member]]
      return member === null && isOptional && ![first, ...others].some(allowsNull)
        ? []
        : [[name, withoutNulls(member, first)]]
    })
  )
}

const allowsNull = (schema: JsonObject): boolean =>
  Keywords.types(schema).includes("null") || schema.const === null || schema.nullable === true ||
  (Array.isArray(schema.enum) && schema.enum.includes(null)) ||
  [...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)].some(allowsNull) ||
  (Keywords.types(schema).length === 0 && !["enum", "const", "anyOf", "oneOf"].some((key) => key in schema))
