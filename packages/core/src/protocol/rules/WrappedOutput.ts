/**
 * Structured content of any type, for clients up to 2025-11-25, whose structured content is an object. A value that is not an object becomes
 * the member `result` of an object, and so does every value of a tool whose output schema allows values that are not objects: what the
 * client receives conforms to the output schema that it has listed. The official SDK does the same. `protocol/Tools` and `features/Tools`
 * wrap, `ToolCodec` reads what another server has wrapped.
 */
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../Json.js"

/** The member that has the value. */
const MEMBER = "result"

/** Whether the output schema allows values that are not objects. */
export const allowsOthers = (schema: JsonObject): boolean => schema.type !== "object"

export const value = (value: unknown): JsonObject => ({ [MEMBER]: value })

/** Structured content that has the shape of a wrapped value. */
export const isValue = (value: unknown): value is JsonObject =>
  Predicate.isRecord(value) && MEMBER in value && Object.keys(value).length === 1

export const read = (value: JsonObject): unknown => value[MEMBER]

/** The schema of wrapped values. The references in the schema name the new place of what they named. */
export const schema = ({ $schema, ...schema }: JsonObject): JsonObject => ({
  ...($schema === undefined ? {} : { $schema }),
  type: "object",
  properties: { [MEMBER]: rebased(schema) },
  required: [MEMBER]
})

/** Keywords whose value is data. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"])

/** Keywords whose value has schemas by names that the author chose. */
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
  // References inside of a schema with an address of its own do not leave it.
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

/** A reference to a place counts from the root. A reference to an anchor is found wherever the anchor stands. */
const rebasedReference = (reference: string): string =>
  reference === "#" || reference.startsWith("#/") ? `#/properties/${MEMBER}${reference.slice(1)}` : reference

const hasAddress = ({ $id }: { readonly $id?: unknown }): boolean => typeof $id === "string" && !$id.startsWith("#")
