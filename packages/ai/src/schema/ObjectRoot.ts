/**
 * Changes the root of a schema to an object with properties, for `Conversion` and `Walk`. A schema may have alternatives (`anyOf`), a
 * reference or other conditions at its root. The APIs of models refuse a whole tool list if one of its schemas has them. In the result, the
 * root has the properties of all alternatives. Its description says which properties belong together. The server still checks the arguments
 * with the original schema.
 *
 * When the root has conditions, call `Inlining` first: `make` expects a schema without references and without `allOf`.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { shortened } from "../text/ModelText.js"
import * as Keywords from "./Keywords.js"
import * as SchemaParts from "./SchemaParts.js"

const conditions = ["allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "dependentSchemas", "$ref"]

export const hasConditions = (root: JsonObject): boolean => conditions.some((key) => key in root)

/** Returns the root with `type: "object"`, otherwise unchanged. */
export const typed = (root: JsonObject): JsonObject => root.type === "object" ? root : { ...root, type: "object" }

export const make = (root: JsonObject): JsonObject => {
  if (!hasConditions(root)) {
    return { ...root, type: "object", properties: SchemaParts.isObject(root.properties) ? root.properties : {} }
  }
  const alternatives = [...Keywords.schemas(root.anyOf), ...Keywords.schemas(root.oneOf)]
  const named = propertiesOf([root, ...alternatives])
  const required = requiredOf(root, alternatives).filter((name) => named.has(name))
  const groups = alternatives.map((one) => SchemaParts.strings(one.required)).filter((names) => names.length > 0)
  const words = groups.length < 2 ? "" : `Give one of: ${groups.map((names) => names.join(" and ")).join("; or ")}.`
  const description = [root.description, shortened(words, MAX_WORDS)]
    .filter((text) => typeof text === "string" && text !== "")
    .join(" ")
  return {
    ...SchemaParts.omit(root, ...conditions, "required", "description"),
    type: "object",
    ...(description === "" ? undefined : { description }),
    properties: SchemaParts.fromEntries(named),
    ...(required.length === 0 ? undefined : { required })
  }
}

const MAX_WORDS = 1_000

/** Returns the properties of all schemas. A property that several schemas describe differently gets all of these descriptions. */
const propertiesOf = (all: ReadonlyArray<JsonObject>): ReadonlyMap<string, JsonObject> => {
  const named = new Map<string, Map<string, JsonObject>>()
  for (const schema of all) {
    for (const [name, property] of Keywords.properties(schema)) {
      const different = named.get(name) ?? new Map<string, JsonObject>()
      named.set(name, different.set(JSON.stringify(property), property))
    }
  }
  return new Map([...named].map(([name, different]) => [name, oneOf([...different.values()])]))
}

/** Returns the properties that the root requires, and the properties that every alternative requires. */
const requiredOf = (root: JsonObject, alternatives: ReadonlyArray<JsonObject>): ReadonlyArray<string> => {
  const [first, ...others] = alternatives.map((one) => new Set(SchemaParts.strings(one.required)))
  const common = [...(first ?? [])].filter((name) => others.every((names) => names.has(name)))
  return [...new Set([...SchemaParts.strings(root.required), ...common])]
}

/**
 * Returns one schema for a property that alternatives describe differently. Often this is the property whose constant distinguishes the
 * alternatives.
 */
const oneOf = (different: ReadonlyArray<JsonObject>): JsonObject => {
  const [first = {}, ...others] = different
  if (others.length === 0) return first
  const values = different.map(valuesOf)
  return values.every((one) => one !== undefined)
    ? { ...SchemaParts.omit(first, "const"), enum: [...new Set(values.flat())] }
    : { anyOf: different }
}

const valuesOf = (schema: JsonObject): ReadonlyArray<unknown> | undefined =>
  "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
