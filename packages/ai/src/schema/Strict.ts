/**
 * The dialect of "strict" functions and structured outputs: every property is required, no other is allowed, and an optional
 * one may be null. A schema that cannot be said in it has no strict form.
 *
 * The input has no references; `Inlining` replaced them.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Parts from "./Parts.js"

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
    if (!Parts.isSchema(schema) || depth > MAX_DEPTH) return undefined
    const alternatives = [...Parts.schemas(schema.anyOf), ...Parts.schemas(schema.oneOf)]
    const rest = Parts.inWords(
      Parts.fromEntries(Object.entries(schema).filter(([key]) => kept.includes(key))),
      schema,
      formats.includes(schema.format as string) ? inWords : [...inWords, "format"]
    )
    if (alternatives.length > 0) {
      // Alternatives stand alone here: the properties beside them would be lost, and a call without them is refused.
      if (Parts.properties(schema).size > 0 || Parts.strings(schema.required).length > 0) return undefined
      const anyOf = alternatives.map((one) => visit(one, depth + 1))
      return anyOf.includes(undefined)
        ? undefined
        : { ...(rest.description === undefined ? undefined : { description: rest.description }), anyOf }
    }
    const given = Parts.types(schema)
    if (given.length === 0) return "enum" in schema || "const" in schema ? rest : undefined
    if (given.includes("object")) return object(schema, rest, depth)
    if (given.includes("array")) {
      const items = visit(schema.items, depth + 1)
      return items === undefined ? undefined : { ...rest, items }
    }
    return formats.includes(schema.format as string) ? { ...rest, format: schema.format } : rest
  }

  const object = (schema: JsonObject, rest: JsonObject, depth: number): JsonObject | undefined => {
    const named = Parts.properties(schema)
    const isMap = schema.patternProperties !== undefined || Parts.isSchema(schema.additionalProperties) ||
      schema.additionalProperties === true
    // A tool without properties has no arguments. An object inside of the arguments that names no properties may have any.
    if (isMap || (named.size === 0 && depth > 0 && schema.additionalProperties !== false)) return undefined
    count += named.size
    if (count > MAX_PROPERTIES) return undefined
    const required = new Set(Parts.strings(schema.required))
    const entries: Array<[string, JsonObject]> = []
    for (const [name, property] of named) {
      const one = visit(property, depth + 1)
      if (one === undefined) return undefined
      entries.push([name, required.has(name) ? one : nullable(one)])
    }
    return {
      ...rest,
      properties: Parts.fromEntries(entries),
      required: [...named.keys()],
      additionalProperties: false
    }
  }

  return visit(root, 0)
}

/** The same schema where every array says what it has: without `items` the API refuses it. */
export const withItems = (schema: JsonObject): JsonObject =>
  Parts.fromEntries(
    Object.entries(
      Parts.types(schema).includes("array") && schema.items === undefined ? { ...schema, items: {} } : schema
    )
      .map(([key, value]) => [key, eachWithItems(key, value)])
  )

const eachWithItems = (key: string, value: unknown): unknown =>
  key === "properties" && Parts.isSchema(value)
    ? Parts.fromEntries(Object.entries(value).map(([name, one]) => [name, Parts.isSchema(one) ? withItems(one) : one]))
    : (key === "items" || key === "additionalProperties") && Parts.isSchema(value)
    ? withItems(value)
    : (key === "anyOf" || key === "oneOf") && Array.isArray(value)
    ? value.map((one) => Parts.isSchema(one) ? withItems(one) : one)
    : value

const nullable = (schema: JsonObject): JsonObject => {
  if (Parts.types(schema).includes("null")) return schema
  if (schema.type === undefined || "const" in schema) {
    const { description, ...rest } = schema
    return {
      ...(description === undefined ? undefined : { description }),
      anyOf: [...(schema.anyOf === undefined ? [rest] : Parts.schemas(schema.anyOf)), { type: "null" }]
    }
  }
  return {
    ...schema,
    type: [...Parts.types(schema), "null"],
    ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : undefined)
  }
}

/**
 * The arguments that a model wrote by the strict form, as the original schema has them: without each null that stands for an
 * optional property. The schema has no references.
 */
export const withoutNulls = (value: unknown, schema: JsonObject): unknown => {
  if (Array.isArray(value)) {
    const { items } = schema
    return Parts.isSchema(items) ? value.map((item) => withoutNulls(item, items)) : value
  }
  if (!Parts.isSchema(value)) return value
  const all = [schema, ...Parts.schemas(schema.anyOf), ...Parts.schemas(schema.oneOf)].map((one) => ({
    named: Parts.properties(one),
    required: new Set(Parts.strings(one.required))
  }))
  return Parts.fromEntries(
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
  Parts.types(schema).includes("null") || schema.const === null || schema.nullable === true ||
  (Array.isArray(schema.enum) && schema.enum.includes(null)) ||
  [...Parts.schemas(schema.anyOf), ...Parts.schemas(schema.oneOf)].some(allowsNull) ||
  (Parts.types(schema).length === 0 && !["enum", "const", "anyOf", "oneOf"].some((key) => key in schema))
