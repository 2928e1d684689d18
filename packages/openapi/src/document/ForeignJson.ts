/**
 * Contains functions for JSON values from outside: an OpenAPI document, or the answer of an API. The functions read and rebuild objects and
 * lists, find the target of a reference, and shorten texts for a model. They accept any value and never throw. `Operations`, `Schemas`,
 * `Request` and `ApiAnswer` use these functions. `Document` checks the structure of a document.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/** Returns whether all numbers in a value are finite. `JSON.parse` reads a number that is too large, such as `1e400`, as infinite. */
export const isFinite = (u: unknown): boolean =>
  typeof u === "number"
    ? Number.isFinite(u)
    : Array.isArray(u)
    ? u.every(isFinite)
    : !isObject(u) || Object.values(u).every(isFinite)

/** Returns the texts in a list; an empty list when the value is not a list. */
export const strings = (u: unknown): ReadonlyArray<string> => Array.isArray(u) ? u.filter(Predicate.isString) : []

/** Makes an object from entries whose keys come from a document or an API. The key `__proto__` becomes an ordinary member. */
export const fromEntries = (entries: Iterable<readonly [string, unknown]>): JsonObject => Object.fromEntries(entries)

/** Returns the object without the members that have these names. */
export const omit = (object: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/**
 * Returns the object in `root` to which a reference points. A reference is a JSON pointer, such as `#/$defs/pet`. Returns `undefined` for a
 * reference to another document, and when there is no object at the pointer.
 */
export const target = (root: JsonObject, reference: unknown): JsonObject | undefined => {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined
  let at: unknown = root
  for (const key of reference.slice(1).split("/").slice(1)) {
    const name = decoded(key).replaceAll("~1", "/").replaceAll("~0", "~")
    at = (Array.isArray(at) || isObject(at)) && Object.hasOwn(at, name) ? (at as JsonObject)[name] : undefined
  }
  return isObject(at) ? at : undefined
}

const decoded = (text: string): string => Either.getOrElse(Either.try(() => decodeURIComponent(text)), () => text)

/** Returns the text with "\uFFFD" in place of each lone surrogate. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** Returns the text, cut to `limit` characters. A text that was cut ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)
