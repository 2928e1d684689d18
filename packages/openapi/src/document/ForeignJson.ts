/**
 * Functions for JSON that others wrote: an OpenAPI document, or the answer of an API. All modules of this package use these functions:
 * `Operations`, `Schemas` and `Request` read and rebuild objects and lists and follow references inside of a document, `ApiAnswer`
 * shortens texts for a model. No function throws, whatever the value is; `Document` refuses documents that are not valid.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/** Whether JSON has no number that is too large, which `JSON.parse` reads as infinite: `1e400`. */
export const isFinite = (u: unknown): boolean =>
  typeof u === "number"
    ? Number.isFinite(u)
    : Array.isArray(u)
    ? u.every(isFinite)
    : !isObject(u) || Object.values(u).every(isFinite)

/** The texts of a list; no texts where the value is not a list. */
export const strings = (u: unknown): ReadonlyArray<string> => Array.isArray(u) ? u.filter(Predicate.isString) : []

/** An object from entries whose keys a peer chose: the key `__proto__` becomes a member like other keys. */
export const fromEntries = (entries: Iterable<readonly [string, unknown]>): JsonObject => Object.fromEntries(entries)

/** The object without the members of these names. */
export const omit = (object: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/**
 * The object in `root` that a reference such as `#/$defs/pet` names by a JSON pointer; `undefined` for references to other
 * documents, and where the pointer leads to no object.
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

/** The text with "\uFFFD" in place of each half of a character. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** At most `limit` characters; a text that is cut ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)
