/**
 * Wraps structured content for clients of revision 2025-11-25 or earlier, which accept only an object. A value that is not an object
 * becomes the member `result` of an object. If the output schema of a tool allows values that are not objects, every value of the tool is
 * wrapped, because the content must conform to the wrapped output schema that the client has received. The official SDK does the same.
 * `protocol/Tools` wraps output schemas, `features/Tools` wraps values, and `ToolCodec` reads a value that another server has wrapped.
 */
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../Json.js"

/** The member of the object that contains the wrapped value. */
const MEMBER = "result"

/** Whether an output schema allows values that are not objects. */
export const allowsOthers = (schema: JsonObject): boolean => schema.type !== "object"

export const value = (value: unknown): JsonObject => ({ [MEMBER]: value })

/** Whether structured content has the shape of a wrapped value. */
export const isValue = (value: unknown): value is JsonObject =>
  Predicate.isRecord(value) && MEMBER in value && Object.keys(value).length === 1

export const read = (value: JsonObject): unknown => value[MEMBER]

/** Returns the schema of wrapped values. Each reference in the schema is changed, so that it leads to the new place of its target. */
export const schema = ({ $schema, ...schema }: JsonObject): JsonObject => ({
  ...($schema === undefined ? {} : { $schema }),
  type: "object",
  properties: { [MEMBER]: rebased(schema) },
  required: [MEMBER]
})

/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"])

/** Keywords whose values are objects of schemas, by names that the author has chosen. */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies"
])

const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"])

const rebased = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(rebased)
  // A schema with `$id` is returned unchanged, because references inside this schema do not lead out of it.
  if (!Predicate.isRecord(schema) || hasAddress(schema)) return schema
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, rebasedValue(keyword, value)]))
}

const rebasedValue = (keyword: string, value: unknown): unknown => {
  if (DATA.has(keyword)) return value
  if (REFERENCES.has(keyword)) return typeof value === "string" ? rebasedReference(value) : value
  return BY_NAME.has(keyword) && Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rebased(one)]))
    : rebased(value)
}

/**
 * Returns the reference after wrapping. A reference that is a path starts at the root of the schema, so the path changes. A reference to an
 * anchor stays.
 */
const rebasedReference = (reference: string): string =>
  reference === "#" || reference.startsWith("#/") ? `#/properties/${MEMBER}${reference.slice(1)}` : reference

const hasAddress = ({ $id }: { readonly $id?: unknown }): boolean => typeof $id === "string" && !$id.startsWith("#")
