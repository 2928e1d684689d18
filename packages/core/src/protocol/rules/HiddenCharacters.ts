/**
 * Removes characters that people do not see from the texts that models read: tag characters, bidi controls, zero-width characters and
 * variation selectors. A server could hide instructions for a model in such characters. This module keeps a hidden character where correct
 * spelling needs the character: a joiner in an emoji or in a script with joined letters, and one variation selector after a character that
 * has variations.
 *
 * `ToolList` of package `ai`, `ClientSessionGroup`, and `Proxy` of package `proxy` remove hidden characters from the names, titles and
 * descriptions in their lists. They never change results, values of enumerations or names of properties, because a call must contain
 * exactly the same text.
 */
import * as Predicate from "effect/Predicate"

/**
 * Tag characters, and other characters of plane 14 that are not visible. The numbers between the two ranges are variation selectors beyond
 * 16.
 */
const TAGS = "\\u{E0000}-\\u{E00FF}\\u{E01F0}-\\u{E0FFF}"

const BIDI = "\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069"

/** Zero-width characters, and also soft hyphens, fillers, and controls of ligatures, annotations, music and shorthand. */
const ZERO_WIDTH =
  "\\u00AD\\u115F\\u1160\\u180E\\u200B\\u2060-\\u2065\\u206A-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB" +
  "\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}"

/** The two joiners of letters, and the joiner that orders combining marks. */
const JOINER = "(?:\\u034F|\\u200C|\\u200D)"

const VARIATION = "(?:[\\uFE00-\\uFE0F]|[\\u180B-\\u180D]|\\u180F|[\\u{E0100}-\\u{E01EF}])"

const ALWAYS = `(?:[${TAGS}${BIDI}${ZERO_WIDTH}]|[\\u17B4-\\u17B5])`

const HIDDEN = new RegExp(`${ALWAYS}|${JOINER}|${VARIATION}`, "u")

/** Hidden characters that follow one another. */
const RUNS = new RegExp(`(?:${ALWAYS}|${JOINER}|${VARIATION})+`, "gu")

const NEVER = new RegExp(`${ALWAYS}+`, "gu")

/** A run of hidden characters that may stay: at most one variation selector, and at most one joiner after it, as in emoji. */
const MAY_STAY = new RegExp(`^${VARIATION}?${JOINER}?$`, "u")

/** Whether the character before a run needs a joiner: an emoji, or a letter of a script whose letters join or stack. */
const JOINS = new RegExp(
  `[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]$|[${
    [
      "Arabic",
      "Syriac",
      "Mandaic",
      "Mongolian",
      "Nko",
      "Phags_Pa",
      "Devanagari",
      "Bengali",
      "Gurmukhi",
      "Gujarati",
      "Oriya",
      "Tamil",
      "Telugu",
      "Kannada",
      "Malayalam",
      "Sinhala",
      "Khmer",
      "Myanmar",
      "Tibetan",
      "Balinese",
      "Javanese",
      "Hebrew"
    ].map((script) => `\\p{scx=${script}}`).join("")
  }]$`,
  "u"
)

const EMOJI_AT_END = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u

const EMOJI_AT_START = /^\p{Extended_Pictographic}/u

/** Characters that have variations: emoji, signs, and letters of a few scripts. */
const VARIES = /[\p{Emoji}\p{Sm}\p{So}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Phags_Pa}]$/u

const HAS_JOINER = new RegExp(JOINER, "u")

const HAS_VARIATION = new RegExp(VARIATION, "u")

/** How many UTF-16 units before and after a run of hidden characters the check reads. A character has at most two units. */
const AROUND = 2

/** Returns the text without its hidden characters. */
export const removed = (text: string): string =>
  HIDDEN.test(text)
    ? text.replace(RUNS, (run, at: number) => {
      const rest = run.replace(NEVER, "")
      const before = text.slice(Math.max(0, at - AROUND), at)
      const after = text.slice(at + run.length, at + run.length + AROUND)
      return staysBetween(before, rest, after) ? rest : ""
    })
    : text

const staysBetween = (before: string, run: string, after: string): boolean => {
  if (!MAY_STAY.test(run)) return false
  if (HAS_VARIATION.test(run) && !VARIES.test(before)) return false
  if (!HAS_JOINER.test(run)) return true
  return JOINS.test(before) && (!EMOJI_AT_END.test(before) || EMOJI_AT_START.test(after))
}

/** Returns the text with an escape instead of each character outside of ASCII, so that a reader of a log sees how two names differ. */
export const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)

/** The texts of an entry of a list. The entry is a tool, a prompt, a resource or a resource template. */
interface Listed {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/**
 * Removes hidden characters from an entry: from its title and description, from the titles and descriptions of its annotations, arguments
 * and schemas, and from the name of a resource. The name of a tool or prompt stays, because calls contain this name. Returns the same
 * object when the entry has no hidden characters.
 */
export const removedFrom = <A extends Listed>(entry: A): A => {
  const { annotations, arguments: args, inputSchema, name, outputSchema, ...texts } = entry as A & Partial<Described>
  const changed = {
    ...changedTexts(texts),
    ...("uri" in entry || "uriTemplate" in entry ? changedMember("name", name, removed(name)) : undefined),
    ...changedMember("annotations", annotations, cleanTexts(annotations)),
    ...changedMember("arguments", args, cleanList(args, cleanTexts)),
    ...changedMember("inputSchema", inputSchema, cleanSchema(inputSchema)),
    ...changedMember("outputSchema", outputSchema, cleanSchema(outputSchema))
  }
  return Object.keys(changed).length === 0 ? entry : { ...entry, ...changed }
}

/** The members that some kinds of entries have. */
interface Described {
  readonly annotations: object
  readonly arguments: ReadonlyArray<object>
  readonly inputSchema: object
  readonly outputSchema: object
}

const changedMember = (name: string, before: unknown, after: unknown) =>
  before === after ? undefined : { [name]: after }

const TEXTS = ["title", "description", "$comment"] as const

const changedTexts = (value: object): object => {
  const given = value as Readonly<Record<string, unknown>>
  const changed: Record<string, string> = {}
  for (const name of TEXTS) {
    const text = given[name]
    if (typeof text === "string" && HIDDEN.test(text) && removed(text) !== text) changed[name] = removed(text)
  }
  return changed
}

const cleanTexts = <A>(value: A): A => {
  if (!Predicate.isRecord(value)) return value
  const changed = changedTexts(value)
  return Object.keys(changed).length === 0 ? value : { ...value, ...changed }
}

const cleanList = <A>(list: A, clean: (value: unknown) => unknown): A => {
  if (!Array.isArray(list)) return list
  const cleaned = list.map(clean)
  return cleaned.every((one, i) => one === list[i]) ? list : cleaned as A
}

/** Keywords whose values are data and not schemas. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "example", "required"])

/** Keywords whose values are objects of schemas, by names that the author has chosen. */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas"
])

const cleanSchema = <A>(schema: A): A => {
  if (Array.isArray(schema)) return cleanList(schema, cleanSchema)
  if (!Predicate.isRecord(schema)) return schema
  const changed: Record<string, unknown> = { ...changedTexts(schema) }
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA.has(keyword) || typeof value !== "object" || value === null) continue
    const cleaned = BY_NAME.has(keyword) ? cleanByName(value) : cleanSchema(value)
    if (cleaned !== value) changed[keyword] = cleaned
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed }
}

const cleanByName = (schemas: object): object => {
  const cleaned = Object.entries(schemas).map(([name, schema]) => [name, cleanSchema(schema)] as const)
  return cleaned.every(([name, schema]) => schema === (schemas as Readonly<Record<string, unknown>>)[name])
    ? schemas
    : Object.fromEntries(cleaned)
}
