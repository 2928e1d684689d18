/**
 * Reads the value of one keyword of a JSON Schema by the rules of a dialect, for `Walk`, `Inlining` and `Keywords`. When the meaning of a
 * wrong value is clear, this module corrects the value. Examples are a number that is written as text, a type in upper case, and a list of
 * which only some members are valid. For any other wrong value the result is `undefined`. `mapSchemas` replaces the schemas inside a value.
 */
import * as Predicate from "effect/Predicate"
import type * as Dialects from "./Dialects.js"
import * as Patterns from "./Patterns.js"
import { fromEntries, isObject, strings } from "./SchemaParts.js"

export const read = (kind: Dialects.Kind, value: unknown, language: Patterns.Language): unknown =>
  readers[kind](value, language)

const readers: Readonly<Record<Dialects.Kind, (value: unknown, language: Patterns.Language) => unknown>> = {
  "any": (value) => value,
  "never": () => undefined,
  "text": (value) => text(value),
  "id": (value) => text(value, (one) => /^[^#]*#?$/.test(one)),
  "anchor": (value) => text(value, (one) => /^[A-Za-z_][-A-Za-z0-9._]*$/.test(one)),
  "boolean": (value) => boolean(value),
  "number": (value) => number(value),
  "positive": (value) => number(value, (one) => one > 0),
  "count": (value) => number(value, (one) => Number.isSafeInteger(one) && one >= 0),
  "pattern": (value, language) => text(value, (one) => Patterns.isPattern(one, language)),
  "type": (value) => type(value),
  "list": (value) => Array.isArray(value) ? value : undefined,
  "values": (value) => Array.isArray(value) ? filled(unique(value)) : undefined,
  "texts": (value) => texts(value),
  "texts by name": (value) => named(value, texts),
  "schema or texts": (value) => named(value, (one) => texts(one) ?? schema(one) ?? {}),
  "booleans by name": (value) => named(value, boolean),
  "schema": (value) => schema(value),
  "schemas": (value) => Array.isArray(value) ? filled(value.map(schema).filter(Predicate.isNotUndefined)) : undefined,
  "schema or schemas": (value) =>
    Array.isArray(value) && value.length > 0 ? value.map((one) => schema(one) ?? {}) : schema(value),
  "schema by name": (value) => named(value, (one) => schema(one) ?? {}),
  "schema by pattern": (value, language) =>
    named(value, (one, name) => Patterns.isPattern(name, language) ? schema(one) ?? {} : undefined)
}

/**
 * Replaces each schema inside a value by the result of `f`. Returns `undefined` for a value that cannot contain schemas of this kind. For a
 * map of schemas, `f` also gets the name of each schema.
 */
export const mapSchemas = (
  kind: Dialects.Kind,
  value: unknown,
  f: (schema: unknown, name?: string) => unknown
): unknown => {
  switch (kind) {
    case "schema":
      return Array.isArray(value) ? undefined : f(value)
    case "schemas":
      return Array.isArray(value) ? value.map((one) => f(one)) : undefined
    case "schema or schemas":
      return Array.isArray(value) ? value.map((one) => f(one)) : f(value)
    case "schema by name":
    case "schema by pattern":
    case "schema or texts":
      return isObject(value)
        ? fromEntries(Object.entries(value).map(([name, one]) => [name, Array.isArray(one) ? one : f(one, name)]))
        : undefined
    default:
      return undefined
  }
}

/** Returns whether values of this kind contain schemas. */
export const hasSchemas = (kind: Dialects.Kind): boolean => kind.includes("schema")

/**
 * Reads a schema. Returns `undefined` when the value is not a schema. The function accepts mistakes of some servers: the name of a type
 * instead of a schema, and an empty list instead of an empty object.
 */
export const schema = (value: unknown): Dialects.Schema | undefined => {
  if (isObject(value) || typeof value === "boolean") return value
  if (Array.isArray(value) && value.length === 0) return {}
  const name = typeName(value)
  return name === undefined ? undefined : { type: name }
}

/** Returns whether a value that breaks the rules still contains information for the model. */
export const says = (value: unknown): boolean =>
  value !== null && value !== "" && (typeof value !== "object" || Object.keys(value).length > 0)

/** Returns whether lists and objects in a value are nested in at most `levels` levels. */
export const isWithin = (levels: number, value: unknown): boolean =>
  typeof value !== "object" || value === null ||
  (levels > 0 && Object.values(value).every((one) => isWithin(levels - 1, one)))

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"]

const type = (value: unknown): unknown =>
  Array.isArray(value) ? filled(unique(value.map(typeName).filter(Predicate.isNotUndefined))) : typeName(value)

const typeName = (value: unknown): string | undefined => {
  const name = typeof value === "string" ? value.toLowerCase() : ""
  return TYPES.includes(name) ? name : undefined
}

const text = (value: unknown, isRight: (value: string) => boolean = () => true): string | undefined =>
  typeof value === "string" && isRight(value) ? value : undefined

const boolean = (value: unknown): boolean | undefined => typeof value === "boolean" ? value : undefined

const number = (given: unknown, isRight: (value: number) => boolean = () => true): number | undefined => {
  const value = typeof given === "string" && /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given
  return typeof value === "number" && Number.isFinite(value) && isRight(value) ? value : undefined
}

const texts = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) ? unique(strings(value)) : undefined

const named = (value: unknown, each: (one: unknown, name: string) => unknown): unknown =>
  isObject(value)
    ? fromEntries(
      Object.entries(value).map(([name, one]) => [name, each(one, name)] as const).filter(([, one]) =>
        one !== undefined
      )
    )
    : undefined

const filled = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | undefined => list.length === 0 ? undefined : list

/** Returns the list without values that are equal to an earlier value. */
const unique = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
  const seen = new Set<string>()
  return list.filter((one) => {
    const text = String(JSON.stringify(ordered(one)))
    return !seen.has(text) && seen.add(text)
  })
}

/** Returns the same value, with the members of objects in the order of their names. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ordered)
    : isObject(value)
    ? fromEntries(Object.keys(value).sort().map((name) => [name, ordered(value[name])]))
    : value
