/**
 * Parses and writes JSON text, within limits: the depth of a document is bounded, and no member may be named `__proto__`.
 *
 * The only module that calls `JSON.parse` and `JSON.stringify`. It knows no message; `Message` turns a refusal into an
 * answer.
 */

/** How deep objects and arrays may nest. */
export const MAX_DEPTH = 64

/** Why a text was refused. `depth` and `prototype` carry the parsed value, so that an answer can have its id. */
export class Refused {
  readonly _tag = "Refused"
  constructor(
    readonly reason: "syntax" | "depth" | "prototype",
    readonly message: string,
    readonly value?: unknown
  ) {}
}

/**
 * Parses one JSON document. Never throws. A member named `__proto__` is refused, because code that copies the object could
 * make the peer's value a prototype.
 */
export const parse = (text: string, maxDepth: number = MAX_DEPTH): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new Refused("syntax", "Parse error: the input is not JSON")
  }
  try {
    if (mayBeDeeper(text, maxDepth) && deeperThan(value, maxDepth)) return tooDeep(value, maxDepth)
    return mayName(text) && namesPrototype(value)
      ? new Refused("prototype", `Invalid request: a member is named "__proto__"`, value)
      : value
  } catch {
    // The limit is so high that the stack overflowed.
    return tooDeep(value, maxDepth)
  }
}

const tooDeep = (value: unknown, limit: number): Refused =>
  new Refused("depth", `Invalid request: nested more than ${limit} levels deep`, value)

/** Writes one JSON document; `undefined` when the value has no JSON form (a cycle, a `bigint`, a `toJSON` that throws). */
export const stringify = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Whether the text has more opening brackets than the limit: a cheap test that most documents do not pass. */
const mayBeDeeper = (text: string, limit: number): boolean => {
  if (text.length <= 2 * limit) return false
  let seen = 0
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    if (++seen > limit) return true
  }
  for (let at = text.indexOf("["); at !== -1; at = text.indexOf("[", at + 1)) {
    if (++seen > limit) return true
  }
  return false
}

const deeperThan = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (deeperThan(value[i], depth - 1)) return true
    }
    return false
  }
  for (const key in value) {
    if (deeperThan((value as Record<string, unknown>)[key], depth - 1)) return true
  }
  return false
}

// Any letter of `__proto__` may be written as an escape sequence.
const escapedName = /\\u00(?:5f|6f|7[024])/i

const mayName = (text: string): boolean => text.includes("__proto__") || escapedName.test(text)

const namesPrototype = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return value.some(namesPrototype)
  for (const key of Object.keys(value)) {
    if (key === "__proto__" || namesPrototype((value as Record<string, unknown>)[key])) return true
  }
  return false
}
