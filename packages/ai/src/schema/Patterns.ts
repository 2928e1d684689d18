/**
 * Which regular expressions the API of a model takes as a pattern: `Dialects` names the language, and `Values` reads patterns in that
 * language. A server writes them as in ECMAScript. OpenAI compiles them as Python does, and refuses look-around: its dialects have only
 * patterns that mean the same in both languages, without look-around and without references to groups.
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

/** Python recurses into groups, and fails where too many are inside of each other. */
const MAX_GROUPS = 100

const ESCAPE = String.raw`\\(?:[^a-zA-Z0-9]|[bdDsSwWfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})`

/** A class with a member: `[]` and `[^]` begin a class of `]` in Python. */
const CLASS = String.raw`\[(?!\^?\])\^?(?:${ESCAPE}|[^\\\]])+\]`

/** `{,5}` is a repetition in Python and plain text in ECMAScript. Python also fails for a repetition whose number is too large. */
const REPETITION = String.raw`\{(?!,|\d{7}|\d*,\d{7})`

/** An escape, a class, the begin of a group or of a repetition, or one other character. */
const PART = new RegExp(String.raw`\\B|${ESCAPE}|${CLASS}|\(\?:|\((?!\?)|${REPETITION}|[^\\([{]`, "gsuy")

const MEMBER = new RegExp(String.raw`${ESCAPE}|[^\\]`, "gsuy")

/** Whether no range of a class begins or ends with a class: Python refuses `[\w-.]`. */
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
