/**
 * Reads the properties, the types and the lists of schemas in a JSON Schema. This module also merges several schemas into one, and writes
 * the meaning of keywords into a description. The schemas come from servers and may be invalid, so the functions never throw. `Inlining`,
 * `ObjectRoot`, `Walk` and `Nulls` use this module and `SchemaParts`.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { fromEntries, isObject, omit, strings } from "./SchemaParts.js"
import * as Values from "./Values.js"

export const schemas = (u: unknown): ReadonlyArray<JsonObject> => Array.isArray(u) ? u.filter(isObject) : []

/**
 * Returns the schemas of the properties, by name. The schema `true`, and a value that is not a schema, become `{}`. The function leaves out
 * a property with the schema `false`.
 */
export const properties = ({ properties }: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map(
    isObject(properties)
      ? Object.entries(properties).flatMap(([name, one]): Array<[string, JsonObject]> => {
        const schema = Values.schema(one)
        return schema === false ? [] : [[name, isObject(schema) ? schema : {}]]
      })
      : []
  )

export const types = ({ type }: JsonObject): ReadonlyArray<string> => typeof type === "string" ? [type] : strings(type)

/**
 * Returns one schema for values that conform to all of the given schemas. The result has the properties and the required names of all these
 * schemas. The value of every other keyword comes from the first schema that has the keyword.
 */
export const merge = (all: ReadonlyArray<JsonObject>): JsonObject => {
  const named = new Map<string, Array<JsonObject>>()
  for (const one of all) {
    for (const [name, property] of properties(one)) {
      const others = named.get(name)
      if (others === undefined) named.set(name, [property])
      else others.push(property)
    }
  }
  const merged = [...named].map(([name, [first, ...others]]) =>
    [name, others.length === 0 ? first : merge([first!, ...others])] as const
  )
  const required = [...new Set(all.flatMap((one) => strings(one.required)))]
  const first: JsonObject = Object.assign({}, ...[...all].reverse())
  // A property that one schema does not allow may belong to another schema.
  const isOpen = all.length > 1 && all.some((one) => one.additionalProperties === false)
  return {
    ...(isOpen ? omit(first, "additionalProperties") : first),
    ...(merged.length === 0 ? undefined : { properties: fromEntries(merged) }),
    ...(required.length === 0 ? undefined : { required })
  }
}

/** Returns the schema with a longer description, which says in words what the given keywords of `from` require. */
export const inWords = (schema: JsonObject, from: JsonObject, keywords: ReadonlyArray<string>): JsonObject => {
  const lost = keywords
    .filter((keyword) => from[keyword] !== undefined)
    .map((keyword) => `${keyword}: ${JSON.stringify(from[keyword])}`)
    .filter((text) => text.length <= 200)
  if (lost.length === 0) return schema
  const before = typeof schema.description === "string" ? `${schema.description} ` : ""
  return { ...schema, description: `${before}(${lost.join(", ")})` }
}

/** Converts a schema of an earlier draft to draft 2020-12: a list in `items`, and `exclusiveMinimum: true`. */
export const renewed = (schema: JsonObject): JsonObject =>
  exclusive(exclusive(tuple(schema), "minimum", "exclusiveMinimum"), "maximum", "exclusiveMaximum")

const tuple = (schema: JsonObject): JsonObject => {
  if (!Array.isArray(schema.items)) return schema
  const { additionalItems, items, ...rest } = schema
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? undefined : { items: additionalItems }) }
}

const exclusive = (schema: JsonObject, bound: string, keyword: string): JsonObject =>
  typeof schema[keyword] !== "boolean"
    ? schema
    : schema[keyword] && schema[bound] !== undefined
    ? { ...omit(schema, bound), [keyword]: schema[bound] }
    : omit(schema, keyword)
