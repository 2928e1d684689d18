/**
 * Reads and rebuilds objects and lists of JSON Schemas that a peer wrote, and follows references inside of a schema. No function throws,
 * whatever the value is. `Inlining`, `ObjectRoot`, `Values`, `Walk` and the other modules of this folder that read schemas call these
 * functions; `Keywords` knows what keywords mean.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

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
