/**
 * Parses and writes JSON text within limits. This module limits the depth of a document, refuses or removes members named `__proto__`, and
 * counts the values in a text before the text is parsed (`holdsMoreThan`). `strictText` and `fault` find values that JSON cannot represent.
 * `stringify` writes only whole characters. All JSON from a peer or to a peer is read or written here. `MessageText` chooses the limits,
 * and makes an answer from a `Refused`.
 */
import * as Either from "effect/Either"

/** How many levels deep objects and arrays may nest in a request or a notification. */
export const MAX_DEPTH = 64

/** How many levels deep a response may nest. The limit is higher, because this side has asked for the response. */
export const MAX_RESPONSE_DEPTH = 512

/** How many values a request or a notification may have, including nested values. */
export const MAX_NODES = 100_000

/** How many values a response may have, including nested values. The limit is higher, because this side has asked for the response. */
export const MAX_RESPONSE_NODES = 1_000_000

/**
 * Whether a document has more than `max` values, including nested values. The text is not parsed, and may be invalid JSON.
 *
 * A value takes at least two characters: one character of the value and a separator. Therefore a text of at most twice `max` characters
 * cannot have too many values. For a longer text, a first count counts every character that may begin a value, also inside strings, so this
 * count is never too low. Only when the first count exceeds `max` are the values counted exactly.
 */
export const holdsMoreThan = (text: string, max: number): boolean =>
  text.length > 2 * max && mayHold(text, max) && holds(text, max)

/**
 * The reason why a text was refused. With reason `depth` or `prototype`, `value` is the parsed value, so that an answer can have the id of
 * the message.
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
 * Parses one JSON document. Returns `Refused` instead of throwing. Refuses a member named `__proto__`, because code that copies the object
 * could use the value of the peer as a prototype.
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
    // Few documents have more opening brackets than `maxDepth`. The depth is checked only in these documents.
    const mayBeDeeper = text.length > 2 * maxDepth && hasMoreOf(["{", "["], text, maxDepth)
    if (mayBeDeeper && deeperThan(value, maxDepth)) return tooDeep(value, maxDepth)
    return mayNamePrototype(text) && namesPrototype(value)
      ? new Refused("prototype", `Invalid request: a member is named "__proto__"`, value)
      : value
  } catch {
    // `maxDepth` is so high that the stack overflowed.
    return tooDeep(value, maxDepth)
  }
}

/** The byte order mark. Section 8.1 of RFC 8259 allows a parser to ignore this character. */
const BYTE_ORDER_MARK = 0xfeff

const notJson = new Refused("syntax", "Parse error: the input is not JSON")

/**
 * Whether the first character can begin a JSON document and the last character can end a JSON document. This check avoids an exception of
 * `JSON.parse`, which takes 5 µs.
 */
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
 * Writes one JSON document. Returns `undefined` for a value without a JSON form: a cycle, a `bigint`, or a `toJSON` that throws. Half of a
 * character becomes U+FFFD, because strict parsers refuse a document with half of a character. A text that was cut at a number of UTF-16
 * units may end with half of a character.
 */
export const stringify = (value: unknown): string | undefined => {
  try {
    const text = JSON.stringify(value) as string | undefined
    // `JSON.stringify` writes whole characters without an escape, so very few texts have this escape.
    return text?.includes("\\ud") === true ? text.replace(HALVES, "$1\uFFFD") : text
  } catch {
    return undefined
  }
}

/**
 * The escape of half of a character. An even number of backslashes before the escape are text. With an odd number, the escape itself would
 * be text.
 */
const HALVES = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Returns a copy of the object without the members whose value is `undefined`. */
export const defined = <A extends object>(members: A): A =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as A

/** Counts commas and opening brackets: each value except the first follows one of these. */
const mayHold = (text: string, max: number): boolean => hasMoreOf([",", "{", "["], text, max - 1)

/** Whether the text has more than `max` of these characters. The count stops when it exceeds `max`. */
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
  // Whether the previous token opened an object or an array. If the next token closes the object or array, it is empty.
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

/** How many characters of a string are read one by one before `indexOf` searches the rest for the end of the string. */
const NEAR = 32

/** Returns the position of the quote that ends a string; the length of the text when there is no such quote. */
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

/** Whether a value nests more than `depth` levels deep. */
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

/**
 * Removes all members named `__proto__` from a parsed value. The function is not recursive, because with high limits a peer chooses the
 * depth.
 */
export const dropPrototypes = (value: unknown): void => {
  const unfinished = [value]
  while (unfinished.length > 0) {
    const next = unfinished.pop()
    if (typeof next !== "object" || next === null) continue
    Reflect.deleteProperty(next, "__proto__")
    for (const inner of Object.values(next)) unfinished.push(inner)
  }
}

/** How many levels deep a value is searched. */
const MAX_SEARCHED = 100

/**
 * Returns the JSON text of a value that a handler returned. On the left: the first place where the value has no JSON form. Without this
 * check, `JSON.stringify` would write `null` for NaN, for Infinity, and for `undefined` in an array. Then the value would not conform to
 * the schema that the server advertises.
 */
export const strictText = (value: unknown): Either.Either<string, string> => {
  const text = stringify(value)
  if (text === undefined) return Either.left("it has no form in JSON")
  // Only a text with `null` in it may hide a value without a JSON form, so only such a value is searched.
  const found = text.includes("null") ? fault(value) : undefined
  return found === undefined ? Either.right(text) : Either.left(found)
}

/**
 * Returns the first place where a value has no JSON form, such as `hits.0.score is NaN`. Returns `undefined` when there is no such place.
 */
export const fault = (value: unknown): string | undefined => {
  const found = find(value, MAX_SEARCHED)
  return found === undefined ? undefined : `${found.path.reverse().join(".") || "it"} is ${found.what}`
}

interface Fault {
  readonly what: string
  /** The keys of the path, with the innermost key first. */
  readonly path: Array<string | number>
}

const find = (value: unknown, depth: number): Fault | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { what: String(value), path: [] }
  if (typeof value !== "object" || value === null || depth === 0) return undefined
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? { what: "an invalid date", path: [] } : undefined
  if ("toJSON" in value) return undefined
  const isArray = Array.isArray(value)
  for (const [key, item] of isArray ? value.entries() : Object.entries(value)) {
    // `JSON.stringify` leaves out a member of an object that has no JSON form. An item of an array would become `null`.
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
