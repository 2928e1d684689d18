/**
 * The parts of JSON, and text for a model. What is here takes values that somebody else wrote, so none of it throws;
 * `Document` refuses what is no document.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

export const strings = (u: unknown): ReadonlyArray<string> => Array.isArray(u) ? u.filter(Predicate.isString) : []

/** An object from entries whose keys the document has: `__proto__` is a key like others. */
export const fromEntries = (entries: Iterable<readonly [string, unknown]>): JsonObject => Object.fromEntries(entries)

export const omit = (schema: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))

/** The object that a JSON pointer in the fragment of a reference leads to; `undefined` for other references. */
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

/** The text with "\uFFFD" in place of each half of a character, for which the APIs of models refuse a whole request. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** At most so many characters; a cut text ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)
