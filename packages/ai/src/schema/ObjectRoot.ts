/**
 * The schema of arguments as an object with properties: the APIs of models refuse a tool list in which one schema has
 * alternatives, a reference or other conditions at its root. The properties of all alternatives become those of the root, and
 * its description says which belong together; the server still checks the arguments by its own schema.
 *
 * A schema with conditions at its root has no references and no `allOf`; `Inlining` replaced them.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { shortened } from "../text/ModelText.js"
import * as Parts from "./Parts.js"

const conditions = ["allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "dependentSchemas", "$ref"]

export const hasConditions = (root: JsonObject): boolean => conditions.some((key) => key in root)

export const make = (root: JsonObject): JsonObject => {
  if (!hasConditions(root)) {
    return { ...root, type: "object", properties: Parts.isSchema(root.properties) ? root.properties : {} }
  }
  const alternatives = [...Parts.schemas(root.anyOf), ...Parts.schemas(root.oneOf)]
  const named = propertiesOf([root, ...alternatives])
  const required = requiredOf(root, alternatives).filter((name) => named.has(name))
  const groups = alternatives.map((one) => Parts.strings(one.required)).filter((names) => names.length > 0)
  const words = groups.length < 2 ? "" : `Give one of: ${groups.map((names) => names.join(" and ")).join("; or ")}.`
  const description = [root.description, shortened(words, MAX_WORDS)]
    .filter((text) => typeof text === "string" && text !== "")
    .join(" ")
  return {
    ...Parts.omit(root, ...conditions, "required", "description"),
    type: "object",
    ...(description === "" ? undefined : { description }),
    properties: Parts.fromEntries(named),
    ...(required.length === 0 ? undefined : { required })
  }
}

const MAX_WORDS = 1_000

/** The properties of all schemas; one that they describe differently has all descriptions. */
const propertiesOf = (all: ReadonlyArray<JsonObject>): ReadonlyMap<string, JsonObject> => {
  const named = new Map<string, Map<string, JsonObject>>()
  for (const schema of all) {
    for (const [name, property] of Parts.properties(schema)) {
      const different = named.get(name) ?? new Map<string, JsonObject>()
      named.set(name, different.set(JSON.stringify(property), property))
    }
  }
  return new Map([...named].map(([name, different]) => [name, oneOf([...different.values()])]))
}

/** What the root requires, and what every alternative does. */
const requiredOf = (root: JsonObject, alternatives: ReadonlyArray<JsonObject>): ReadonlyArray<string> => {
  const [first, ...others] = alternatives.map((one) => new Set(Parts.strings(one.required)))
  const common = [...(first ?? [])].filter((name) => others.every((names) => names.has(name)))
  return [...new Set([...Parts.strings(root.required), ...common])]
}

/** A property that alternatives describe differently; often by the constant that tells them apart. */
const oneOf = (different: ReadonlyArray<JsonObject>): JsonObject => {
  const [first = {}, ...others] = different
  if (others.length === 0) return first
  const values = different.map(valuesOf)
  return values.every((one) => one !== undefined)
    ? { ...Parts.omit(first, "const"), enum: [...new Set(values.flat())] }
    : { anyOf: different }
}

const valuesOf = (schema: JsonObject): ReadonlyArray<unknown> | undefined =>
  "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
