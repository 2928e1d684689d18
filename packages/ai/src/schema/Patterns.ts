/**
 * Decides which regular expressions the API of a model accepts in a schema, for `Values`. A server writes the regular expressions of its
 * schemas in the language of ECMAScript. The APIs of most models accept this language. OpenAI compiles regular expressions as Python does,
 * and refuses look-around. So the dialects of OpenAI keep a regular expression only if it means the same in ECMAScript and in Python. It
 * must also have no look-around and no reference to a group.
 */
import * as Either from "effect/Either"

export type Language = "ECMAScript" | "Python"

export const isPattern = (pattern: string, language: Language): boolean =>
  (language === "ECMAScript" || isShared(pattern)) && (compiles(pattern, "u") || compiles(pattern, ""))

const compiles = (pattern: string, flags: string): boolean =>
  Either.isRight(Either.try(() => new RegExp(pattern, flags)))

const isShared = (pattern: string): boolean => {
  if (pattern.length > MAX_LENGTH || pattern.split("(").length > MAX_GROUPS + 1) return false
  const parts = Array.from(pattern.matchAll(PART), ([part]) => part)
  return parts.join("") === pattern && parts.every((part) => !part.startsWith("[") || isClass(part))
}

const MAX_LENGTH = 10_000

/** The most groups of a pattern. Python recurses into nested groups, and fails when the nesting is too deep. */
const MAX_GROUPS = 100

const ESCAPE = String.raw`\\(?:[^a-zA-Z0-9]|[bdDsSwWfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})`

/** A class with at least one member. In Python, `[]` and `[^]` would begin a class that contains `]`. */
const CLASS = String.raw`\[(?!\^?\])\^?(?:${ESCAPE}|[^\\\]])+\]`

/**
 * The beginning of a repetition. `{,5}` is a repetition in Python and plain text in ECMAScript. Python also fails for a repetition whose
 * number is too large.
 */
const REPETITION = String.raw`\{(?!,|\d{7}|\d*,\d{7})`

/** Matches one part of a pattern: an escape, a class, the beginning of a group or of a repetition, or another character. */
const PART = new RegExp(String.raw`\\B|${ESCAPE}|${CLASS}|\(\?:|\((?!\?)|${REPETITION}|[^\\([{]`, "gsuy")

const MEMBER = new RegExp(String.raw`${ESCAPE}|[^\\]`, "gsuy")

/** Returns whether Python accepts a class. Python refuses a range that begins or ends with a class, such as `[\w-.]`. */
const isClass = (text: string): boolean => {
  const members = Array.from(text.slice(1, -1).replace(/^\^/, "").matchAll(MEMBER), ([member]) => member)
  let at = 0
  while (at + 2 < members.length) {
    const isRange = members[at + 1] === "-"
    if (isRange && [members[at], members[at + 2]].some((end) => /^\\[dDsSwW]$/.test(String(end)))) return false
    at += isRange ? 3 : 1
  }
  return true
}
