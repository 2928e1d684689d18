/**
 * The parts of one JSON Schema: what a local reference leads to, several schemas as one, and a keyword in words. The
 * dialects of models are made with these. Every function takes schemas that a peer wrote, so none of them throws.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isSchema = (u: unknown): u is JsonObject => Predicate.isRecord(u)

export const schemas = (u: unknown): ReadonlyArray<JsonObject> => Array.isArray(u) ? u.filter(isSchema) : []

export const strings = (u: unknown): ReadonlyArray<string> => Array.isArray(u) ? u.filter(Predicate.isString) : []

/** The property schemas by name; `true` and `false` become objects. */
export const properties = ({ properties }: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map(
    isSchema(properties)
      ? Object.entries(properties).flatMap(([name, one]): Array<[string, JsonObject]> =>
        isSchema(one) ? [[name, one]] : one === true ? [[name, {}]] : []
      )
      : []
  )

/** An object from entries whose keys a peer chose: `__proto__` is a key like others. */
export const fromEntries = (entries: Iterable<readonly [string, unknown]>): JsonObject => Object.fromEntries(entries)

export const types = ({ type }: JsonObject): ReadonlyArray<string> => typeof type === "string" ? [type] : strings(type)

export const omit = (schema: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))

/** What a JSON pointer in the fragment of a reference leads to; `undefined` for other references and for no schema. */
export const target = (root: JsonObject, reference: unknown): JsonObject | undefined => {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined
  let at: unknown = root
  for (const key of reference.slice(1).split("/").slice(1)) {
    const name = decoded(key).replaceAll("~1", "/").replaceAll("~0", "~")
    at = (Array.isArray(at) || isSchema(at)) && Object.hasOwn(at, name) ? (at as JsonObject)[name] : undefined
  }
  return isSchema(at) ? at : undefined
}

const decoded = (text: string): string => Either.getOrElse(Either.try(() => decodeURIComponent(text)), () => text)

/** One schema for values that conform to all: the properties and requirements of each; other keywords of the first that has them. */
export const merge = (all: ReadonlyArray<JsonObject>): JsonObject => {
  const named = new Map<string, Array<JsonObject>>()
  for (const one of all) {
    for (const [name, property] of properties(one)) {
      const others = named.get(name)
      if (others === undefined) named.set(name, [property])
      else others.push(property)
    }
  }
  const merged = [...named].map(([name, [first, ...others]]) =>
    [name, others.length === 0 ? first : merge([first!, ...others])] as const
  )
  const required = [...new Set(all.flatMap((one) => strings(one.required)))]
  const first: JsonObject = Object.assign({}, ...[...all].reverse())
  // What one part does not allow, another may have.
  const isOpen = all.length > 1 && all.some((one) => one.additionalProperties === false)
  return {
    ...(isOpen ? omit(first, "additionalProperties") : first),
    ...(merged.length === 0 ? undefined : { properties: fromEntries(merged) }),
    ...(required.length === 0 ? undefined : { required })
  }
}

/** The same schema whose description also says what these keywords of `from` say. */
export const inWords = (schema: JsonObject, from: JsonObject, keywords: ReadonlyArray<string>): JsonObject => {
  const lost = keywords
    .filter((keyword) => from[keyword] !== undefined)
    .map((keyword) => `${keyword}: ${JSON.stringify(from[keyword])}`)
    .filter((text) => text.length <= 200)
  if (lost.length === 0) return schema
  const before = typeof schema.description === "string" ? `${schema.description} ` : ""
  return { ...schema, description: `${before}(${lost.join(", ")})` }
}
