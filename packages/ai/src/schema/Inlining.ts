/**
 * A JSON Schema without references and without `allOf`: for models that know neither. Each reference is replaced with what it
 * leads to; inside of itself a schema is replaced with its type and description. References repeat what they lead to, so a
 * small schema can become a large one: the work has a bound.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Parts from "./Parts.js"

/** The largest schema: a part is a schema, a name of a property, or some 50 characters of another keyword. */
export const MAX_PARTS = 20_000

const CHARACTERS_OF_PART = 50

/** The parts that are divided among the schemas of one list; as many again are for those that need more. */
export const MAX_TOTAL = 100_000

/** How many parts the schemas of one list may have: each of them has its `own`, whatever others need, and all share what is `left`. */
export interface Budget {
  readonly own: number
  left: number
}

export const budget = (schemas = 1): Budget => ({ own: Math.ceil(MAX_TOTAL / schemas), left: MAX_TOTAL })

/** The largest schema that a budget allows. */
export const allowed = ({ left, own }: Budget): number => Math.min(MAX_PARTS, own + left)

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const one = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]
const many = ["anyOf", "oneOf", "allOf", "prefixItems"]
const named = ["properties", "patternProperties", "dependentSchemas"]

/** `undefined` when the schema has more parts than the budget allows. */
export const inline = (root: JsonObject, total: Budget = budget()): JsonObject | undefined => {
  const max = allowed(total)
  let count = 0

  /** `open` are the schemas that this one is a part of by references. */
  const visit = (schema: unknown, open: ReadonlyArray<JsonObject>): unknown => {
    if (++count > max || !Parts.isSchema(schema)) return schema
    const { $ref, ...rest } = Parts.omit(schema, "$defs", "definitions", "$schema", "$id", "$anchor", "$comment")
    const { allOf, ...own } = Parts.fromEntries(
      Object.entries(tuple(rest)).map(([key, value]) => [key, child(key, value, open)])
    )
    const parts = [own, ...referenced($ref, open), ...Parts.schemas(allOf)]
    return parts.length === 1 ? own : Parts.merge(parts)
  }

  const child = (key: string, value: unknown, open: ReadonlyArray<JsonObject>): unknown => {
    if (one.includes(key) && !Array.isArray(value)) return visit(value, open)
    if (many.includes(key) && Array.isArray(value)) return value.map((item) => visit(item, open))
    if (!named.includes(key) || !Parts.isSchema(value)) return counted(key, value)
    count += Object.keys(value).length
    return Parts.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, open)]))
  }

  /** The value of a keyword that has no schemas: each reference to its schema repeats it. */
  const counted = (key: string, value: unknown): unknown => {
    count += (key.length + String(JSON.stringify(value)).length) / CHARACTERS_OF_PART
    return value
  }

  const referenced = ($ref: unknown, open: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
    if ($ref === undefined) return []
    const found = Parts.target(root, counted("$ref", $ref))
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

/** A tuple as draft 2020-12 writes it; earlier drafts have a list of `items`. */
const tuple = (schema: JsonObject): JsonObject => {
  if (!Array.isArray(schema.items)) return schema
  const { additionalItems, items, ...rest } = schema
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? undefined : { items: additionalItems }) }
}

/**
 * Whether a schema can stay as it is for a model that knows references: each leads to a definition in it, and there is
 * nothing that draft 2020-12 does not have.
 */
export const isSelfContained = (root: JsonObject): boolean => {
  const ok = (u: unknown): boolean => {
    if (Array.isArray(u)) return u.every(ok)
    if (!Parts.isSchema(u)) return true
    const { $dynamicRef, $id, $recursiveRef, $ref, items } = u
    const leads = $ref === undefined ||
      (typeof $ref === "string" && /^#\/(\$defs|definitions)\//.test($ref) && Parts.target(root, $ref) !== undefined)
    return leads && !Array.isArray(items) &&
      [$dynamicRef, $id, $recursiveRef].every((one) => typeof one !== "string") &&
      Object.values(u).every(ok)
  }
  return ok(root)
}

/** A schema without its parts. */
const outline = (schema: JsonObject): JsonObject => ({
  ...(schema.type === undefined ? undefined : { type: schema.type }),
  ...(typeof schema.description === "string" ? { description: schema.description } : undefined)
})
