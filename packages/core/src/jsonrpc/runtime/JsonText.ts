/**
 * Parses and writes JSON text, within limits: the depth of a document is bounded, a member named `__proto__` is refused or removed, and
 * `holdsMoreThan` counts the values in a text before the text is parsed. `strictText` and `fault` find values that JSON cannot represent, and
 * `stringify` writes whole characters only. All JSON that a peer sends or receives passes here. `MessageText` chooses the limits and turns a
 * `Refused` into an answer.
 */
import * as Either from "effect/Either"

/** How deep objects and arrays may nest. */
export const MAX_DEPTH = 64

/** How deep a response may nest: deeper, because we sent the request. */
export const MAX_RESPONSE_DEPTH = 512

/** How many values a request or a notification may hold, including nested values. */
export const MAX_NODES = 100_000

/** How many values a response may hold: more, because we sent the request. */
export const MAX_RESPONSE_NODES = 1_000_000

/**
 * Whether a document holds more values than `max`, including nested values. The text is not parsed, and need not be JSON.
 *
 * A value takes at least two characters, its own and a separator, so a text of at most twice `max` characters cannot
 * hold too many. In a longer text, a first count takes every character that may begin a value, also inside strings: this
 * count is never too low. The exact count follows only when the first count exceeds `max`.
 */
export const holdsMoreThan = (text: string, max: number): boolean =>
  text.length > 2 * max && mayHold(text, max) && holds(text, max)

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
 * Parses one JSON document. Never throws. A member named `__proto__` is refused, because code that copies the object
 * could make the peer's value a prototype.
 */
export const parse = (given: string, maxDepth: number = MAX_DEPTH): unknown => {
  const text = given.charCodeAt(0) === BYTE_ORDER_MARK ? given.slice(1) : given
  if (!mayBeJson(text)) return notJson
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return notJson
  }
  try {
    // Few documents have so many opening brackets, and only these are walked.
    const mayBeDeeper = text.length > 2 * maxDepth && hasMoreOf(["{", "["], text, maxDepth)
    if (mayBeDeeper && deeperThan(value, maxDepth)) return tooDeep(value, maxDepth)
    return mayNamePrototype(text) && namesPrototype(value)
      ? new Refused("prototype", `Invalid request: a member is named "__proto__"`, value)
      : value
  } catch {
    // The limit is so high that the stack overflowed.
    return tooDeep(value, maxDepth)
  }
}

/** A parser may ignore a byte order mark (RFC 8259, section 8.1). */
const BYTE_ORDER_MARK = 0xfeff

const notJson = new Refused("syntax", "Parse error: the input is not JSON")

/** Whether JSON can begin with the first character and end with the last character. An exception of `JSON.parse` costs 5 µs. */
const mayBeJson = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  switch (text.charCodeAt(0)) {
    case 0x7b: // {
      return last === 0x7d || last <= 0x20
    case 0x5b: // [
      return last === 0x5d || last <= 0x20
    default:
      return jsonStart.test(text)
  }
}

const jsonStart = /^(?:[\s"\d-]|true|false|null)/

export const tooDeep = (value: unknown, limit: number): Refused =>
  new Refused("depth", `Invalid request: nested more than ${limit} levels deep`, value)

/**
 * Writes one JSON document; `undefined` for a value without a JSON form: a cycle, a `bigint`, a throwing `toJSON`. Half of a character
 * becomes U+FFFD, because strict parsers refuse the whole document. A text that was cut at a number of UTF-16 units may end with half of a
 * character.
 */
export const stringify = (value: unknown): string | undefined => {
  try {
    const text = JSON.stringify(value) as string | undefined
    // Whole characters are written as they are, so hardly any text has this escape.
    return text?.includes("\\ud") === true ? text.replace(HALVES, "$1\uFFFD") : text
  } catch {
    return undefined
  }
}

/** The escape of half of a character, after an even number of backslashes; with an odd number, the backslash is text. */
const HALVES = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** The same object without the members that are `undefined`. */
export const defined = <A extends object>(members: A): A =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as A

/** Each value but the first follows a comma or an opening bracket. */
const mayHold = (text: string, max: number): boolean => hasMoreOf([",", "{", "["], text, max - 1)

/** Whether the text has more of these characters than `max`. The count stops as soon as it exceeds `max`. */
const hasMoreOf = (characters: ReadonlyArray<string>, text: string, max: number): boolean => {
  let seen = 0
  for (const character of characters) {
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
      if (++seen > max) return true
    }
  }
  return seen > max
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

const holds = (text: string, max: number): boolean => {
  let seen = 1
  // Whether the previous token opened an object or array, which is empty if the next token closes it.
  let opened = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20) continue
    const closes = code === 0x7d || code === 0x5d
    if (code === COMMA || (opened && !closes)) {
      if (++seen > max) return true
    }
    opened = code === 0x7b || code === 0x5b
    if (code === QUOTE) at = endOfString(text, at + 1)
  }
  return seen > max
}

/** How many characters of a string are read one by one before `indexOf` searches the rest for its end. */
const NEAR = 32

/** The position of the quote that ends a string; the end of the text when there is none. */
const endOfString = (text: string, from: number): number => {
  let at = from
  while (at < text.length) {
    for (const stop = Math.min(at + NEAR, text.length); at < stop; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) return at
      if (code === BACKSLASH) at++
    }
    const quote = text.indexOf("\"", at)
    if (quote === -1) break
    let escape = quote
    while (escape > at && text.charCodeAt(escape - 1) === BACKSLASH) escape--
    if ((quote - escape) % 2 === 0) return quote
    at = quote + 1
  }
  return text.length
}

/** Whether a value nests deeper than so many levels. */
export const deeperThan = (value: unknown, depth: number): boolean => {
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

const mayNamePrototype = (text: string): boolean => text.includes("__proto__") || escapedName.test(text)

const namesPrototype = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return value.some(namesPrototype)
  for (const key of Object.keys(value)) {
    if (key === "__proto__" || namesPrototype((value as Record<string, unknown>)[key])) return true
  }
  return false
}

/** Removes all members named `__proto__` from a value that was parsed. Does not recurse: where limits are high, a peer chooses the depth. */
export const dropPrototypes = (value: unknown): void => {
  const unfinished = [value]
  while (unfinished.length > 0) {
    const next = unfinished.pop()
    if (typeof next !== "object" || next === null) continue
    Reflect.deleteProperty(next, "__proto__")
    for (const inner of Object.values(next)) unfinished.push(inner)
  }
}

/** How deep a value is searched. Deeper values, and cycles, are refused when they are written. */
const MAX_SEARCHED = 100

/**
 * The text of a value that a handler returned. Left: the first place where the value has no form in JSON.
 * `JSON.stringify` writes `null` for NaN, Infinity and `undefined` in an array, which would not conform to the schema that
 * is advertised.
 */
export const strictText = (value: unknown): Either.Either<string, string> => {
  const text = stringify(value)
  if (text === undefined) return Either.left("it has no form in JSON")
  // Only a text with a `null` in it may hide a value without a form, so only such a value is searched.
  const found = text.includes("null") ? fault(value) : undefined
  return found === undefined ? Either.right(text) : Either.left(found)
}

/** The first place where a value has no form in JSON: `hits.0.score is NaN`. */
export const fault = (value: unknown): string | undefined => {
  const found = find(value, MAX_SEARCHED)
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
