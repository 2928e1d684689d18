/**
 * Converts schemas of an OpenAPI document to JSON Schema of draft 2020-12, for `Operations`. The schemas of OpenAPI 3.0 are a dialect of
 * JSON Schema, which this module translates. When a schema has a reference, this module puts the target of the reference into `$defs`. So
 * the result may contain itself. `Document` finds the target of a reference.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import type { OpenApiError } from "../OpenApiError.js"
import * as Document from "./Document.js"
import * as ForeignJson from "./ForeignJson.js"

/**
 * Says whether schemas are for requests or for responses. The schemas of requests do not have read-only properties. The schemas of
 * responses do not have write-only properties.
 */
export type Direction = "request" | "response"

/** The keywords that the conversion removes, because JSON Schema does not have them, or because validators and models do not need them. */
const dropped = [
  "example",
  "examples",
  "discriminator",
  "xml",
  "externalDocs",
  "nullable",
  "readOnly",
  "writeOnly",
  "$schema",
  "$id",
  "$anchor"
]
const one = ["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties"]
const many = ["anyOf", "oneOf", "allOf", "prefixItems"]
const byName = ["properties", "patternProperties", "dependentSchemas", "$defs"]

export interface Schemas {
  /** Converts the schema of a part. The references in the result point to schemas in the result of `definitions`. */
  readonly convert: (at: Document.Part) => JsonObject
  /**
   * Returns an object with `$defs`, which contains the schemas to which the converted schemas refer. Returns `undefined` when these schemas
   * have more than `MAX_LENGTH` characters together. Throws when one of these schemas cannot be read. The function first adds the lengths
   * of the schemas, so that the work stays small for a large document.
   */
  readonly definitions: () => JsonObject | undefined
}

/** The most characters of the schema of a tool. `RawTool` has the same limit. */
export const MAX_LENGTH = 262_144

/**
 * Stores the converted targets of references, and the errors of targets that cannot be read. So the conversion of each target runs once for
 * all operations. A target that cannot be read affects only the operations that refer to it.
 */
export interface Store {
  readonly document: Document.Document
  readonly direction: Direction
  readonly names: Map<unknown, string>
  readonly taken: Set<string>
  readonly made: Map<
    string,
    {
      readonly schema: Either.Either<JsonObject, OpenApiError>
      readonly refers: ReadonlySet<string>
      readonly length: number
    }
  >
}

export const store = (document: Document.Document, direction: Direction): Store => ({
  document,
  direction,
  names: new Map(),
  taken: new Set(),
  made: new Map()
})

export const make = ({ direction, document, made, names, taken }: Store): Schemas => {
  const used = new Set<string>()
  const waiting: Array<{ readonly name: string; readonly at: Document.Part }> = []
  /** The names of the schemas to which the present schema refers. */
  let refers = used

  const reference = (at: Document.Part): JsonObject => {
    const found = Document.lookUp(document, at.value.$ref, at.pointer)
    const known = names.get(found.value) ?? named(found)
    refers.add(known)
    return { $ref: `#/$defs/${known}` }
  }

  /**
   * Gives a name to a schema. `convertAll` converts the schema later, because a long chain of references would otherwise need a deep stack.
   */
  const named = (found: Document.Part): string => {
    const last = found.pointer.split("/").at(-1)!.replace(/[^A-Za-z0-9_.-]/g, "_") || "Root"
    let name = last
    for (let number = 2; taken.has(name); number++) name = `${last}_${number}`
    taken.add(name)
    names.set(found.value, name)
    waiting.push({ name, at: found })
    return name
  }

  const convertAll = (at: Document.Part): JsonObject => {
    const schema = Document.attempt(at.pointer, () => convert(at))
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      refers = new Set()
      const { at } = next
      const schema = Document.attempt(at.pointer, () => convert(at))
      made.set(next.name, { schema, refers, length: Either.match(schema, { onLeft: () => 0, onRight: lengthOf }) })
    }
    refers = used
    return Either.getOrThrowWith(schema, identity)
  }

  const definitions = (): JsonObject | undefined => {
    const all = new Set(used)
    let length = 0
    for (const name of all) {
      const one = made.get(name)!
      length += one.length
      if (length > MAX_LENGTH) return undefined
      for (const other of one.refers) all.add(other)
    }
    return all.size === 0
      ? {}
      : {
        $defs: ForeignJson.fromEntries(
          [...all].map((name) => [name, Either.getOrThrowWith(made.get(name)!.schema, identity)])
        )
      }
  }

  const child = (value: unknown, pointer: string): unknown =>
    ForeignJson.isObject(value) ? convert({ value, pointer }) : typeof value === "boolean" ? value : {}

  const member = (name: string, value: unknown, pointer: string): unknown =>
    one.includes(name) || name === "items"
      ? child(value, pointer)
      : many.includes(name) && Array.isArray(value)
      ? value.map((item, index) => child(item, `${pointer}/${index}`))
      : byName.includes(name) && ForeignJson.isObject(value)
      ? ForeignJson.fromEntries(
        Object.entries(value).map(([key, item]) => [key, child(item, `${pointer}/${Document.key(key)}`)])
      )
      : value

  const convert = (at: Document.Part): JsonObject => {
    const { pointer, value } = at
    const referred = value.$ref === undefined ? undefined : reference(at)
    // OpenAPI 3.0 ignores keywords beside a reference.
    if (referred !== undefined && document.isOld) return referred
    const own = ForeignJson.fromEntries(
      Object.entries(visible(document, pointer, value, direction))
        .filter(([name]) => !dropped.includes(name) && !name.startsWith("x-") && name !== "$ref")
        .map(([name, inner]) => [name, member(name, inner, `${pointer}/${Document.key(name)}`)])
    )
    const sound = withBase64(usable(own))
    const converted = document.isOld ? withNull(withBounds(sound), value.nullable === true) : sound
    return { ...referred, ...converted }
  }

  return { convert: convertAll, definitions }
}

/** Returns how many characters a schema has as JSON. */
export const lengthOf = (schema: JsonObject): number => JSON.stringify(schema).length

/** Returns the schema without read-only properties in requests, and without write-only properties in responses. */
const visible = (
  document: Document.Document,
  pointer: string,
  schema: JsonObject,
  direction: Direction
): JsonObject => {
  const hint = direction === "request" ? "readOnly" : "writeOnly"
  if (!ForeignJson.isObject(schema.properties)) return schema
  const hidden = Object.entries(schema.properties).filter(([name, property]) =>
    ForeignJson.isObject(property) &&
    (property.$ref === undefined
        ? property
        : Document.lookUp(document, property.$ref, `${pointer}/properties/${Document.key(name)}`).value)[hint] === true
  ).map(([name]) => name)
  return hidden.length === 0 ? schema : {
    ...schema,
    properties: ForeignJson.omit(schema.properties, ...hidden),
    ...(Array.isArray(schema.required)
      ? { required: ForeignJson.strings(schema.required).filter((name) => !hidden.includes(name)) }
      : undefined)
  }
}

/**
 * Removes a `pattern` that the server cannot match in linear time, such as a pattern with a lookaround, or a pattern in another language of
 * regular expressions. Also removes an empty `enum`. Either keyword would make the tool unusable. The API still checks the values.
 */
const usable = (schema: JsonObject): JsonObject => {
  const { pattern } = schema
  const isForeign = typeof pattern === "string" && !isLinear(pattern)
  const isEmpty = Array.isArray(schema.enum) && schema.enum.length === 0
  return isForeign || isEmpty
    ? ForeignJson.omit(schema, ...(isForeign ? ["pattern"] : []), ...(isEmpty ? ["enum"] : []))
    : schema
}

const isLinear = (pattern: string): boolean =>
  Either.isRight(
    Either.try(() => RawTool.make("pattern", { inputSchema: { type: "object", properties: { _: { pattern } } } }))
  )

/** Returns the schema with base64 text in place of bytes, because JSON has no bytes. */
const withBase64 = (schema: JsonObject): JsonObject =>
  schema.format === "binary" || schema.format === "byte"
    ? { ...ForeignJson.omit(schema, "format"), contentEncoding: "base64" }
    : schema

/** Returns the schema with exclusive bounds as numbers. In OpenAPI 3.0 `exclusiveMinimum` is a boolean that belongs to `minimum`. */
const withBounds = (schema: JsonObject): JsonObject => {
  const bound = (limit: "minimum" | "maximum", exclusive: "exclusiveMinimum" | "exclusiveMaximum") =>
    schema[exclusive] === true && typeof schema[limit] === "number"
      ? { [exclusive]: schema[limit] }
      : typeof schema[limit] === "number"
      ? { [limit]: schema[limit] }
      : {}
  return {
    ...ForeignJson.omit(schema, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    ...bound("minimum", "exclusiveMinimum"),
    ...bound("maximum", "exclusiveMaximum")
  }
}

const withNull = (schema: JsonObject, isNullable: boolean): JsonObject => {
  if (!isNullable) return schema
  if (typeof schema.type !== "string") return { anyOf: [schema, { type: "null" }] }
  return {
    ...schema,
    type: [schema.type, "null"],
    ...(Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : undefined)
  }
}
