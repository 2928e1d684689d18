/**
 * Reads and rebuilds the objects and lists in a JSON Schema that comes from a server, and finds the target of a reference inside a schema.
 * The functions accept any value and never throw. `Inlining`, `ObjectRoot`, `Values`, `Walk` and other modules of this folder call these
 * functions. `Keywords` interprets keywords.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/** Returns the texts in a list; an empty list when the value is not a list. */
export const strings = (u: unknown): ReadonlyArray<string> => Array.isArray(u) ? u.filter(Predicate.isString) : []

/** Makes an object from entries whose keys come from a server. The key `__proto__` becomes an ordinary member. */
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
