/**
 * Removes references and `allOf` from a JSON Schema, for models that do not support these keywords. This module replaces each reference by
 * the schema to which the reference points. When a schema contains a reference to itself, this module replaces the reference by the type
 * and the description of the schema. A small schema with many references can become large, so a budget limits the size of the result.
 * `Conversion` and `ModelSchema` prepare schemas with this module. `ToolList` and `SamplingPrompt` make the budget.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Dialects from "./Dialects.js"
import * as Keywords from "./Keywords.js"
import * as SchemaParts from "./SchemaParts.js"
import * as Values from "./Values.js"

/** The most parts of a schema. A part is a schema, a property, 50 characters of a keyword, or ten members that `allOf` merges. */
export const MAX_PARTS = 20_000

const CHARACTERS_OF_PART = 50

const MERGED_OF_PART = 10

/**
 * The most parts that the shares of all schemas of one list have together. A second supply of the same number of parts is for schemas that
 * need more than their share.
 */
export const MAX_TOTAL = 100_000

/**
 * The numbers of parts that the schemas of one list may have. `own` is the share of each schema. `left` is the rest of the second supply,
 * from which a schema takes the parts beyond its share.
 */
export interface Budget {
  readonly own: number
  left: number
}

export const budget = (schemas = 1): Budget => ({ own: Math.ceil(MAX_TOTAL / schemas), left: MAX_TOTAL })

/** Returns how many parts the next schema may have at most. */
export const allowed = ({ left, own }: Budget): number => Math.min(MAX_PARTS, own + left)

/** Returns the schema without references and `allOf`; `undefined` when the result would have more parts than the budget allows. */
export const inline = (root: JsonObject, total: Budget = budget()): JsonObject | undefined => {
  const max = allowed(total)
  let count = 0

  /** `open` are the schemas whose references have led to this schema. */
  const visit = (schema: unknown, open: ReadonlyArray<JsonObject>): unknown => {
    if (++count > max) return schema
    if (!SchemaParts.isObject(schema)) return counted("", schema)
    const { $ref, ...rest } = SchemaParts.omit(schema, "$defs", "definitions", "$schema", "$id", "$anchor", "$comment")
    const { allOf, ...own } = SchemaParts.fromEntries(
      Object.entries(Keywords.renewed(rest)).map(([key, value]) => [key, child(key, value, open)])
    )
    const parts = [own, ...referenced($ref, open), ...Keywords.schemas(allOf)].filter((part) =>
      Object.keys(part).length > 0
    )
    return parts.length < 2 ? parts[0] ?? own : merged(parts)
  }

  const child = (key: string, value: unknown, open: ReadonlyArray<JsonObject>): unknown =>
    Values.mapSchemas(Dialects.draft.get(key) ?? "any", value, (one, name) => {
      if (name !== undefined) count += 1 + name.length / CHARACTERS_OF_PART
      return visit(one, open)
    }) ?? counted(key, value)

  /** Counts the value of a keyword without schemas. The result repeats this value for each reference to its schema. */
  const counted = (key: string, value: unknown): unknown => {
    count += (key.length + String(JSON.stringify(value)).length) / CHARACTERS_OF_PART
    return value
  }

  /** Counts the members of merged schemas again, because each outer `allOf` copies them. */
  const merged = (parts: ReadonlyArray<JsonObject>): JsonObject => {
    for (const part of parts) {
      for (const one of [part, part.properties, part.required]) {
        if (typeof one === "object" && one !== null) count += Object.keys(one).length / MERGED_OF_PART
      }
    }
    return count > max ? {} : Keywords.merge(parts)
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

/**
 * Returns whether a model that supports references can read the schema unchanged. Each reference must lead to a definition of the root, and
 * must not lead back to itself. The schema must have only keywords of draft 2020-12.
 */
export const isSelfContained = (root: JsonObject): boolean => {
  const ok = (u: unknown): boolean => {
    if (Array.isArray(u)) return u.every(ok)
    if (!SchemaParts.isObject(u)) return true
    const { $dynamicRef, $id, $recursiveRef, $ref, items } = u
    return ($ref === undefined || leads($ref)) && !Array.isArray(items) &&
      [$dynamicRef, $id, $recursiveRef].every((one) => typeof one !== "string") &&
      Object.values(u).every(ok)
  }

  const known = new Map<unknown, boolean>()

  const leads = ($ref: unknown): boolean => {
    const before = known.get($ref)
    if (before !== undefined) return before
    // A reference that leads back to itself names no definition.
    known.set($ref, false)
    const found = typeof $ref === "string" && DEFINITION.test($ref) ? SchemaParts.target(root, $ref) : undefined
    const is = found !== undefined && (found.$ref === undefined || leads(found.$ref))
    known.set($ref, is)
    return is
  }

  return ok(root)
}

const DEFINITION = /^#\/(\$defs|definitions)\/[\w.-]+$/

/** Returns a schema with its type and description only. */
const outline = (schema: JsonObject): JsonObject => ({
  ...(schema.type === undefined ? undefined : { type: schema.type }),
  ...(typeof schema.description === "string" ? { description: schema.description } : undefined)
})
