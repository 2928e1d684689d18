/**
 * The dialect of Gemini's function declarations, a subset of the schema objects of OpenAPI 3.0: one type for each schema, `nullable` in
 * place of the type null, enumerations of texts only, `anyOf` as the only keyword for alternatives. Descriptions say in words what
 * other keywords say.
 *
 * The input has no references: `Inlining` has replaced them.
 *
 * @see https://ai.google.dev/api/caching#Schema
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Keywords from "./Keywords.js"
import * as ObjectRoot from "./ObjectRoot.js"
import * as SchemaParts from "./SchemaParts.js"

/** The keywords that the dialect has for each type. */
const kept: ReadonlyMap<unknown, ReadonlyArray<string>> = new Map([
  ["string", ["minLength", "maxLength", "pattern"]],
  ["number", ["minimum", "maximum"]],
  ["integer", ["minimum", "maximum"]],
  ["array", ["minItems", "maxItems"]],
  ["object", ["minProperties", "maxProperties"]],
  ["boolean", []]
])

const formats: ReadonlyMap<unknown, ReadonlyArray<string>> = new Map([
  ["string", ["date-time"]],
  ["number", ["float", "double"]],
  ["integer", ["int32", "int64"]]
])

/** The schema of any value. A schema needs a type, and a model can write every value as text. */
const anything = { type: "string", description: "any JSON value, as text" }

/**
 * Down to this level, a schema with properties and alternatives becomes one object. The work grows with each level, and a peer chose
 * the depth.
 */
const MAX_MERGED = 32

export const make = (root: JsonObject): JsonObject => visit(root, 0)

const visit = (schema: JsonObject, depth: number): JsonObject => {
  const described = typeof schema.description === "string" ? { description: schema.description } : {}
  const { isNullable, types } = withoutNull(schema)
  const alternatives = [...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)]
  const nullable = isNullable || alternatives.some(isNull) ? { nullable: true } : {}
  const some = alternatives.filter((one) => !isNull(one))
  if (some.length > 0) {
    // The dialect ignores keywords beside `anyOf`.
    if (depth < MAX_MERGED && isObject(schema, types, some)) {
      const one = { ...SchemaParts.omit(schema, "oneOf"), anyOf: some }
      return { ...visit(ObjectRoot.make(one), depth), ...nullable }
    }
    if (types.length > 0 && some.every(isNarrowing)) {
      const one = SchemaParts.omit(schema, "anyOf", "oneOf")
      return { ...visit(Keywords.inWords(one, schema, ["anyOf", "oneOf"]), depth), ...nullable }
    }
    return some.length === 1
      ? { ...visit(some[0]!, depth + 1), ...described, ...nullable }
      : { ...described, ...nullable, anyOf: some.map((one) => visit(one, depth + 1)) }
  }
  if (types.length > 1) {
    return {
      ...described,
      ...nullable,
      anyOf: types.map((type) => visit({ ...SchemaParts.omit(schema, "description"), type }, depth + 1))
    }
  }
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : undefined
  const type = types[0] ?? typeOf(values, schema)
  if (type === undefined) return { ...anything, ...described, ...nullable }
  return { ...typed(type, schema, values, described, depth + 1), ...nullable }
}

/** Whether a schema with alternatives has properties of its own and describes objects only. */
const isObject = (
  schema: JsonObject,
  types: ReadonlyArray<string>,
  alternatives: ReadonlyArray<JsonObject>
): boolean =>
  Keywords.properties(schema).size > 0 && (types.length === 0
    ? alternatives.every((one) => Keywords.types(one).includes("object") || "properties" in one || "required" in one)
    : types.every((type) => type === "object"))

/** Whether a schema has no keyword for the form of values, so that it only restricts the values of the schema above. */
const isNarrowing = (schema: JsonObject): boolean => !forms.some((key) => key in schema)

const forms = ["type", "enum", "const", "properties", "items", "prefixItems", "anyOf", "oneOf"]

const typed = (
  type: string,
  schema: JsonObject,
  values: ReadonlyArray<unknown> | undefined,
  described: JsonObject,
  depth: number
): JsonObject => {
  const texts = values?.filter((value) => value !== null)
  // The API refuses an enumeration without values, and the empty text as a value.
  const isEnum = texts !== undefined && texts.length > 0 && type === "string" &&
    texts.every((value) => typeof value === "string" && value !== "")
  const hasFormat = formats.get(type)?.includes(schema.format as string) === true
  const lost = [
    "default",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    ...(hasFormat ? [] : ["format"]),
    ...(isEnum ? [] : ["enum", "const"])
  ]
  return {
    type,
    ...Keywords.inWords(described, schema, lost),
    ...(hasFormat ? { format: schema.format } : undefined),
    ...(isEnum ? { enum: texts } : undefined),
    ...SchemaParts.fromEntries(Object.entries(schema).filter(([key]) => kept.get(type)?.includes(key) === true)),
    ...(type === "array" ? { items: items(schema, depth) } : undefined),
    ...(type === "object" ? object(schema, depth) : undefined)
  }
}

const items = (schema: JsonObject, depth: number): JsonObject => {
  const each = [...Keywords.schemas(schema.prefixItems), ...(SchemaParts.isObject(schema.items) ? [schema.items] : [])]
  return each.length === 0 ? anything : visit(each.length === 1 ? each[0]! : { anyOf: each }, depth)
}

const object = (schema: JsonObject, depth: number): JsonObject => {
  const named = Keywords.properties(schema)
  const required = SchemaParts.strings(schema.required).filter((name) => named.has(name))
  return {
    // The API refuses an empty list of properties.
    ...(named.size === 0
      ? undefined
      : { properties: SchemaParts.fromEntries([...named].map(([name, one]) => [name, visit(one, depth)])) }),
    ...(required.length === 0 ? undefined : { required })
  }
}

const withoutNull = (schema: JsonObject) => {
  const types = Keywords.types(schema)
  return {
    types: [...new Set(types)].filter((type) => kept.has(type)),
    isNullable: types.includes("null") || schema.nullable === true ||
      (Array.isArray(schema.enum) && schema.enum.includes(null))
  }
}

const isNull = (schema: JsonObject): boolean => schema.type === "null" || schema.const === null

const typeOf = (values: ReadonlyArray<unknown> | undefined, schema: JsonObject): string | undefined => {
  if (values !== undefined) {
    const [first] = values.filter((value) => value !== null)
    return typeof first === "number" || typeof first === "boolean" ? typeof first : "string"
  }
  return schema.properties !== undefined
    ? "object"
    : schema.items !== undefined || schema.prefixItems !== undefined
    ? "array"
    : undefined
}
