/**
 * Makes the fields of a `Form` from the JSON Schema that `JsonSchema` generates. Elicitation allows only a restricted subset of JSON
 * Schema: flat objects whose properties are primitive values. `make` throws for a property that a form cannot have.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 */
import type { JsonObject } from "../../protocol/Json.js"
import * as JsonSchema from "../schema/JsonSchema.js"
import { quoted } from "../text/Quoted.js"

export interface FormFields {
  readonly properties: Readonly<Record<string, JsonObject>>
  readonly required: ReadonlyArray<string>
}

export const make = (schema: JsonObject): FormFields => {
  // Records and unions are objects too, but do not have a fixed set of fields.
  if (!JsonSchema.isObject(schema) || beyondFields.some((keyword) => (schema[keyword] ?? false) !== false)) {
    throw new Error("Form: the schema must be a struct: an object with named fields")
  }
  const { $defs = {}, properties = {}, required = [] } = schema as Generated
  return {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        fieldOf(name, property.$ref === undefined ? property : { ...$defs[nameOf(property.$ref)], ...property })
      ])
    ),
    required
  }
}

const beyondFields = ["$ref", "anyOf", "additionalProperties", "patternProperties"]

interface Generated {
  readonly properties?: Readonly<Record<string, Property>>
  readonly required?: ReadonlyArray<string>
  readonly $defs?: Readonly<Record<string, Property>>
}

interface Property {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly anyOf?: ReadonlyArray<Property>
  readonly enum?: ReadonlyArray<string>
  readonly items?: Property
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const annotations = ["title", "description", "default"]

/** Returns the annotations of a property, and the values of these keywords. */
const pick = (property: Property, ...keywords: ReadonlyArray<string>): JsonObject => {
  const picked: Record<string, unknown> = {}
  for (const keyword of [...annotations, ...keywords]) {
    if (property[keyword] !== undefined) picked[keyword] = property[keyword]
  }
  return picked
}

const formats = new Set(["email", "uri", "date", "date-time"])

const fieldOf = (name: string, property: Property): JsonObject => {
  const choices = titledChoices(property)
  if (choices !== undefined) return { type: "string", ...pick(property), oneOf: choices }
  switch (property.type) {
    case "string":
      return property.enum !== undefined
        ? { type: "string", ...pick(property, "enum") }
        : {
          type: "string",
          ...pick(property, "minLength", "maxLength"),
          ...(property.format !== undefined && formats.has(property.format) ? { format: property.format } : undefined)
        }
    case "number":
    case "integer":
      return { type: property.type, ...pick(property, "minimum", "maximum") }
    case "boolean":
      return { type: "boolean", ...pick(property) }
    case "array": {
      const items = property.items === undefined ? undefined : itemsOf(property.items)
      if (items !== undefined) return { type: "array", ...pick(property, "minItems", "maxItems"), items }
    }
  }
  throw new Error(
    `Form: the field ${quoted(name)} has a type that a form cannot have: use a string, a number, a boolean, ` +
      "a literal, or an array of literals"
  )
}

const itemsOf = (items: Property): JsonObject | undefined => {
  const choices = titledChoices(items)
  return choices !== undefined
    ? { anyOf: choices }
    : items.enum !== undefined
    ? { type: "string", enum: items.enum }
    : undefined
}

/**
 * Returns the choices of a union of literals with titles; `undefined` for any other property. If a literal has no title, its value is its
 * title.
 */
const titledChoices = ({ anyOf }: Property): ReadonlyArray<JsonObject> | undefined =>
  anyOf?.every((literal) => literal.type === "string" && literal.enum?.length === 1) === true
    ? anyOf.map((literal) => ({ const: literal.enum![0]!, title: literal.title ?? literal.enum![0]! }))
    : undefined
