/**
 * Decides which regular expressions the API of a model accepts as a pattern. `Dialects` names the language of the patterns, and `Values`
 * reads patterns in this language. A server writes patterns in the language of ECMAScript. OpenAI compiles patterns as Python does, and
 * refuses look-around. So the dialects of OpenAI keep a pattern only if it means the same in ECMAScript and in Python, and has no
 * look-around and no reference to a group.
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

/** How many groups may be nested. Python recurses into groups, and fails when the nesting is too deep. */
const MAX_GROUPS = 100

const ESCAPE = String.raw`\\(?:[^a-zA-Z0-9]|[bdDsSwWfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})`

/** A class with at least one member. In Python, `[]` and `[^]` would begin a class that contains `]`. */
const CLASS = String.raw`\[(?!\^?\])\^?(?:${ESCAPE}|[^\\\]])+\]`

/**
 * The beginning of a repetition. `{,5}` is a repetition in Python and plain text in ECMAScript. Python also fails for a repetition whose
 * number is too large.
 */
const REPETITION = String.raw`\{(?!,|\d{7}|\d*,\d{7})`

/** An escape, a class, the begin of a group or of a repetition, or one other character. */
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
