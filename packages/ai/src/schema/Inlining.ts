/**
 * Removes references and `allOf` from a JSON Schema, for models that know neither. A reference is replaced with the schema that it
 * names, and a reference of a schema to itself with the type and the description of the schema. A small schema with many references
 * can become large, so a budget bounds the size of the result.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Keywords from "./Keywords.js"
import * as SchemaParts from "./SchemaParts.js"

/** The most parts of a schema. A part is a schema, the name of a property, or 50 characters of another keyword. */
export const MAX_PARTS = 20_000

const CHARACTERS_OF_PART = 50

/** The parts that are divided among the schemas of one list. As many again are for schemas that need more than their share. */
export const MAX_TOTAL = 100_000

/** How many parts the schemas of one list may have: `own` is the share of each schema, and all schemas share what is `left`. */
export interface Budget {
  readonly own: number
  left: number
}

export const budget = (schemas = 1): Budget => ({ own: Math.ceil(MAX_TOTAL / schemas), left: MAX_TOTAL })

/** The most parts of a schema that a budget allows. */
export const allowed = ({ left, own }: Budget): number => Math.min(MAX_PARTS, own + left)

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const one = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]
const many = ["anyOf", "oneOf", "allOf", "prefixItems"]
const named = ["properties", "patternProperties", "dependentSchemas"]

/** `undefined` when the schema has more parts than the budget allows. */
export const inline = (root: JsonObject, total: Budget = budget()): JsonObject | undefined => {
  const max = allowed(total)
  let count = 0

  /** `open` are the schemas whose references led to this schema. */
  const visit = (schema: unknown, open: ReadonlyArray<JsonObject>): unknown => {
    if (++count > max || !SchemaParts.isObject(schema)) return schema
    const { $ref, ...rest } = SchemaParts.omit(schema, "$defs", "definitions", "$schema", "$id", "$anchor", "$comment")
    const { allOf, ...own } = SchemaParts.fromEntries(
      Object.entries(tuple(rest)).map(([key, value]) => [key, child(key, value, open)])
    )
    const parts = [own, ...referenced($ref, open), ...Keywords.schemas(allOf)]
    return parts.length === 1 ? own : Keywords.merge(parts)
  }

  const child = (key: string, value: unknown, open: ReadonlyArray<JsonObject>): unknown => {
    if (one.includes(key) && !Array.isArray(value)) return visit(value, open)
    if (many.includes(key) && Array.isArray(value)) return value.map((item) => visit(item, open))
    if (!named.includes(key) || !SchemaParts.isObject(value)) return counted(key, value)
    count += Object.keys(value).length
    return SchemaParts.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, open)]))
  }

  /** Counts the value of a keyword without schemas, which is repeated with each reference to its schema. */
  const counted = (key: string, value: unknown): unknown => {
    count += (key.length + String(JSON.stringify(value)).length) / CHARACTERS_OF_PART
    return value
  }

  const referenced = ($ref: unknown, open: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
    if ($ref === undefined) return []
    const found = SchemaParts.target(root, counted("$ref", $ref))
    count += open.length / CHARACTERS_OF_PART
    return found === undefined
      ? []
      : open.includes(found)
      ? [outline(found)]
      : [visit(found, [...open, found]) as JsonObject]
  }

  const inlined = visit(root, [root]) as JsonObject
  total.left = Math.max(0, total.left - Math.max(0, count - total.own))
  return count > max ? undefined : inlined
}

/** Writes a tuple as draft 2020-12 does; earlier drafts have a list in `items`. */
const tuple = (schema: JsonObject): JsonObject => {
  if (!Array.isArray(schema.items)) return schema
  const { additionalItems, items, ...rest } = schema
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? undefined : { items: additionalItems }) }
}

/**
 * Whether a model that knows references can read the schema unchanged: each reference leads to a definition in the schema, and the
 * schema has only keywords of draft 2020-12.
 */
export const isSelfContained = (root: JsonObject): boolean => {
  const ok = (u: unknown): boolean => {
    if (Array.isArray(u)) return u.every(ok)
    if (!SchemaParts.isObject(u)) return true
    const { $dynamicRef, $id, $recursiveRef, $ref, items } = u
    const leads = $ref === undefined ||
      (typeof $ref === "string" && /^#\/(\$defs|definitions)\//.test($ref) &&
        SchemaParts.target(root, $ref) !== undefined)
    return leads && !Array.isArray(items) &&
      [$dynamicRef, $id, $recursiveRef].every((one) => typeof one !== "string") &&
      Object.values(u).every(ok)
  }
  return ok(root)
}

/** A schema with its type and description only. */
const outline = (schema: JsonObject): JsonObject => ({
  ...(schema.type === undefined ? undefined : { type: schema.type }),
  ...(typeof schema.description === "string" ? { description: schema.description } : undefined)
})
