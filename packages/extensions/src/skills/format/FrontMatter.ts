/**
 * Reads the front matter of a `SKILL.md`, for `SkillsClient` and `SkillFiles`. The front matter is the YAML between two lines `---` at the
 * beginning of the file. The result is JSON. So this module refuses YAML that has no form in JSON: tags, keys that are not texts, and
 * values that contain themselves. This module accepts a text with a colon and without quotes, which is not valid YAML. Many hosts accept
 * such a text, too. This module loads the YAML parser when the first file is read.
 *
 * @see https://agentskills.io/specification#frontmatter
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Yaml from "yaml"
import type { Frontmatter } from "../Skills.js"

/** The reason why the front matter of a file cannot be used, and the line in the file, counted from 1. */
export class Malformed {
  readonly _tag = "Malformed"
  constructor(readonly line: number, readonly problem: string) {}
}

export interface FrontMatter {
  readonly fields: Frontmatter
  /** The text below the front matter. */
  readonly body: string
  /** Returns the line of a field in the file, counted from 1. */
  readonly lineOf: (field: string) => number
}

/** The default of the most characters that front matter may have. */
export const MAX_LENGTH = 16_384

/** Returns the front matter at the beginning of `text`. Fails when the front matter is not valid, or has no `name` or `description`. */
export const read = (text: string, maxLength: number = MAX_LENGTH): Effect.Effect<FrontMatter, Malformed> => {
  const found = split(text, maxLength)
  return found instanceof Malformed
    ? Effect.fail(found)
    : Effect.flatMap(Effect.promise(() => import("yaml")), (yaml) => parse(yaml, found))
}

interface Parts {
  readonly source: string
  readonly body: string
}

const split = (text: string, maxLength: number): Parts | Malformed => {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const opening = /^---\r?\n/.exec(text.slice(start, start + 5))
  if (opening === null) return new Malformed(1, `the file does not begin with a line "---" and YAML below`)
  const from = start + opening[0].length
  const closing = /(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(text.slice(from, from + maxLength + 8))
  if (closing === null) {
    return new Malformed(
      1,
      `the YAML after the first line has no end: no line "---" follows within ${maxLength} characters`
    )
  }
  return {
    source: text.slice(from, from + closing.index).replace(/\r$/, ""),
    body: text.slice(from + closing.index + closing[0].length)
  }
}

const parse = (yaml: typeof Yaml, { body, source }: Parts): Effect.Effect<FrontMatter, Malformed> =>
  Effect.suspend(() => {
    const lines = new yaml.LineCounter()
    const strict = parsed(yaml, source, lines)
    const quoted = strict instanceof Malformed ? parsed(yaml, withQuotes(source), new yaml.LineCounter()) : strict
    // An error must be about the text that the author has written, not about the text with added quotes.
    const document = quoted instanceof Malformed ? strict : quoted
    if (document instanceof Malformed) return Effect.fail(document)
    const { value } = document
    const lineOf = (field: string): number => {
      const { contents } = document
      const pair = yaml.isMap(contents)
        ? contents.items.find(({ key }) => yaml.isScalar(key) && key.value === field)
        : undefined
      const range = (pair?.key as Yaml.Scalar | undefined)?.range
      // The first line of the file is "---".
      return range === undefined || range === null ? 1 : lines.linePos(range[0]).line + 1
    }
    if (!Predicate.isRecord(value)) {
      return Effect.fail(new Malformed(2, "the front matter must consist of fields, as in name: refunds"))
    }
    const unfit = Object.keys(value).find((field) => field === "__proto__" || !isJson(value[field], MAX_DEPTH))
    if (unfit !== undefined) {
      return Effect.fail(
        new Malformed(
          lineOf(unfit),
          `the field "${unfit.slice(0, 64)}" cannot be written as JSON, or is nested too deeply`
        )
      )
    }
    for (const field of ["name", "description"]) {
      const given = value[field]
      if (typeof given !== "string" || given.trim() === "") {
        return Effect.fail(new Malformed(lineOf(field), `the front matter needs a field "${field}" with a text`))
      }
    }
    return Effect.succeed({ fields: value as Frontmatter, body, lineOf })
  })

/**
 * Returns the YAML with quotes around each text that has a colon before a space or at its end. Indented lines below a field continue the
 * text of the field.
 */
const withQuotes = (source: string): string =>
  source.split(/\n(?![ \t])/).map((line) => {
    const [, field, text] = unquoted.exec(line) ?? []
    if (text === undefined || !/:(?:\s|$)/.test(text)) return line
    const lines = text.split("\n")
    // Empty lines replace the continued lines, so that the following fields keep their line numbers.
    return `${field}: ${JSON.stringify(lines.map((one) => one.trim()).join(" "))}${"\n".repeat(lines.length - 1)}`
  }).join("\n")

/** Matches a field with an unquoted text. The value is not in quotes, and is not a collection, a block, an alias, a tag or a comment. */
const unquoted = /^([\w-]+):[ \t]+([^\s"'[\]{}|>&*!%@`#,?-][^]*)$/

const parsed = (
  yaml: typeof Yaml,
  source: string,
  lineCounter: Yaml.LineCounter
): { readonly value: unknown; readonly contents: unknown } | Malformed =>
  Either.getOrElse(
    Either.try(() => {
      const document = yaml.parseDocument(source, {
        lineCounter,
        schema: "core",
        stringKeys: true,
        logLevel: "silent",
        prettyErrors: false
      })
      const [flaw] = [...document.errors, ...document.warnings]
      return flaw === undefined
        ? { value: document.toJS(), contents: document.contents }
        : new Malformed(
          lineCounter.linePos(flaw.pos[0]).line + 1,
          `the front matter is not YAML: ${flaw.message.slice(0, 200)}`
        )
    }),
    // The parser throws for too many aliases, and when the nesting overflows the stack.
    () => new Malformed(2, "the YAML is nested too deeply, or repeats too much by aliases")
  )

/**
 * The most levels of lists and objects in a field. A message may have at most 64 levels, and the fields are already some levels below the
 * root of the message.
 */
const MAX_DEPTH = 32

const isJson = (value: unknown, depth: number): boolean => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true
  if (typeof value === "number") return Number.isFinite(value)
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((one) => isJson(one, depth - 1))
  return Predicate.isRecord(value) &&
    Object.keys(value).every((key) => key !== "__proto__" && isJson(value[key], depth - 1))
}

/** Returns whether two JSON values are equal. The order of members does not matter. */
export const isEqual = (one: unknown, other: unknown): boolean =>
  Predicate.isRecord(one) && Predicate.isRecord(other)
    ? Object.keys(one).length === Object.keys(other).length &&
      Object.keys(one).every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
    : Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((value, index) => isEqual(value, other[index]))
    : one === other
