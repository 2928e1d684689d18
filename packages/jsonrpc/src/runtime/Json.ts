/**
 * Text to value and back, within bounds: how deep a document may nest, and that no member is named `__proto__`.
 *
 * The one room that calls `JSON.parse` and `JSON.stringify`. It knows no message shape; a refusal is a sentence, which
 * `LineFraming` turns into an answer.
 *
 * @since 0.1.0
 */

/**
 * How many objects and arrays may stand inside one another.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_DEPTH = 64

/**
 * Why a text was refused. `syntax` is not JSON; `depth` and `prototype` are JSON that is not taken, with the value
 * still at hand so that an answer can carry its id.
 *
 * @since 0.1.0
 * @category models
 */
export class Refused {
  readonly _tag = "Refused"
  constructor(
    readonly reason: "syntax" | "depth" | "prototype",
    readonly message: string,
    readonly value?: unknown
  ) {}
}

/**
 * Reads one JSON document. Never throws.
 *
 * A key named `__proto__` is refused, not dropped: what copies such an object could make the peer's value a
 * prototype.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parse = (text: string, maxDepth: number = MAX_DEPTH): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new Refused("syntax", "Parse error: the input is not JSON")
  }
  try {
    if (opens(text, maxDepth) && deeperThan(value, maxDepth)) return tooDeep(value, maxDepth)
    return mayName(text) && namesPrototype(value)
      ? new Refused("prototype", `Invalid request: a member is named "__proto__"`, value)
      : value
  } catch {
    // A limit that the stack cannot keep.
    return tooDeep(value, maxDepth)
  }
}

const tooDeep = (value: unknown, limit: number): Refused =>
  new Refused("depth", `Invalid request: nested more than ${limit} levels deep`, value)

/**
 * Writes one JSON document on one line; `undefined` when the value has no JSON form (a cycle, a `bigint`, a `toJSON`
 * that throws).
 *
 * @since 0.1.0
 * @category encoding
 */
export const stringify = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Whether the text opens more brackets than the limit: the cheap question that most documents answer with no. */
const opens = (text: string, limit: number): boolean => {
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

// Any letter of the name may be written as an escape.
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
