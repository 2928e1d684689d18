/**
 * The JSON text of a value that a handler returned, or an error that says where the value has no JSON form. `JSON.stringify`
 * writes `null` for NaN, Infinity and `undefined` in an array, which would not conform to the schema that is advertised.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Either from "effect/Either"

/** How deep a value is searched. Deeper values, and cycles, are refused when they are written. */
const MAX_DEPTH = 100

/** The text, or why and where the value has none. */
export const encode = (value: unknown): Either.Either<string, string> => {
  const text = Json.stringify(value)
  if (text === undefined) return Either.left("it has no form in JSON")
  // Only a text with a `null` in it may hide a value without a form, so only such a value is searched.
  const found = text.includes("null") ? fault(value) : undefined
  return found === undefined ? Either.right(text) : Either.left(found)
}

/** The first place where a value has no form in JSON: `hits.0.score is NaN`. */
export const fault = (value: unknown): string | undefined => {
  const found = find(value, MAX_DEPTH)
  return found === undefined ? undefined : `${found.path.reverse().join(".") || "it"} is ${found.what}`
}

interface Fault {
  readonly what: string
  /** From the inside out. */
  readonly path: Array<string | number>
}

const find = (value: unknown, depth: number): Fault | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { what: String(value), path: [] }
  if (typeof value !== "object" || value === null || depth === 0) return undefined
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? { what: "an invalid date", path: [] } : undefined
  if ("toJSON" in value) return undefined
  const isArray = Array.isArray(value)
  for (const [key, item] of isArray ? value.entries() : Object.entries(value)) {
    // A member of an object without a form is left out; an item of an array would become null.
    const found = isArray && hasNoForm(item) ? { what: nameOf(item), path: [] } : find(item, depth - 1)
    if (found !== undefined) {
      found.path.push(key)
      return found
    }
  }
  return undefined
}

const hasNoForm = (item: unknown): boolean =>
  item === undefined || typeof item === "function" || typeof item === "symbol"

const nameOf = (item: unknown): string => item === undefined ? "undefined" : `a ${typeof item}`
