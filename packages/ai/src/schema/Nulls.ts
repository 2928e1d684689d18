/**
 * Removes nulls from the arguments that a model has written. In the strict form of a schema every property is required, so a model writes
 * null for a property that it leaves out. `Walk` makes the schemas in the strict form. `ModelSchema` calls `remove` for the arguments of a
 * call.
 *
 * `remove` expects the original schema after `Inlining` has replaced its references.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Keywords from "./Keywords.js"
import * as SchemaParts from "./SchemaParts.js"

/** Returns the value without the nulls of properties that the model left out. `schema` is the original schema, without references. */
export const remove = (value: unknown, schema: JsonObject, known: Known = new Map()): unknown => {
  if (Array.isArray(value)) {
    const { items } = schema
    return SchemaParts.isObject(items) ? value.map((item) => remove(item, items, known)) : value
  }
  if (!SchemaParts.isObject(value)) return value
  const members = known.get(schema) ?? membersOf(schema)
  known.set(schema, members)
  return SchemaParts.fromEntries(
    Object.entries(value).flatMap(([name, member]): Array<[string, unknown]> => {
      const property = members.get(name)
      if (property === undefined) return [[name, member]]
      const isLeftOut = member === null && property.isOptional && !property.allowsNull
      return isLeftOut ? [] : [[name, remove(member, property.schema, known)]]
    })
  )
}

/**
 * The properties of the schemas that `remove` has already read. `remove` keeps them, because a model may write many objects of one schema.
 */
type Known = Map<JsonObject, ReadonlyMap<string, Property>>

interface Property {
  readonly schema: JsonObject
  readonly isOptional: boolean
  readonly allowsNull: boolean
}

/**
 * Returns the properties of a schema and of its alternatives. When several schemas describe a property, `remove` uses the first of these
 * schemas for the values inside the property.
 */
const membersOf = (schema: JsonObject): ReadonlyMap<string, Property> => {
  const members = new Map<string, Property>()
  for (const one of [schema, ...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)]) {
    const required = new Set(SchemaParts.strings(one.required))
    for (const [name, property] of Keywords.properties(one)) {
      const before = members.get(name)
      members.set(name, {
        schema: before?.schema ?? property,
        isOptional: before?.isOptional === true || !required.has(name),
        allowsNull: before?.allowsNull === true || allowsNull(property)
      })
    }
  }
  return members
}

const allowsNull = (schema: JsonObject): boolean =>
  Keywords.types(schema).includes("null") || schema.const === null || schema.nullable === true ||
  (Array.isArray(schema.enum) && schema.enum.includes(null)) ||
  [...Keywords.schemas(schema.anyOf), ...Keywords.schemas(schema.oneOf)].some(allowsNull) ||
  (Keywords.types(schema).length === 0 && !["enum", "const", "anyOf", "oneOf"].some((key) => key in schema))
