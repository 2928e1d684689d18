/**
 * What Effect's own types and filters say of themselves in a JSON Schema: titles and descriptions that repeat the keywords
 * (`"title": "between(0, 5)"`) and cost a model tokens, and patterns that take a text for a pattern. Recognized by the
 * keywords they belong to, so that nothing an author wrote is taken for theirs.
 *
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"

/**
 * @since 0.1.0
 * @category models
 */
export interface FilterText {
  readonly titles: ReadonlySet<unknown>
  readonly descriptions: ReadonlySet<unknown>
  /** The pattern that is meant; `undefined` when there is none, or the one that is there is meant. */
  readonly pattern: string | undefined
}

/**
 * What Effect's own types and filters would say of a schema with these keywords.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (schema: JsonObject): FilterText => {
  const titles = new Set<unknown>()
  const descriptions = new Set<unknown>()
  const say: Say = (when, title, ...words) => {
    if (when === undefined || when === false) return
    titles.add(title)
    for (const description of words) descriptions.add(description)
  }
  types(schema, say)
  numbers(schema, say)
  strings(schema, say)
  const { maxItems, minItems } = schema
  say(minItems, `minItems(${minItems})`, `an array of at least ${minItems} item(s)`)
  say(maxItems, `maxItems(${maxItems})`, `an array of at most ${maxItems} item(s)`)
  say(minItems, `itemsCount(${minItems})`, `an array of exactly ${minItems} item(s)`)
  return { titles, descriptions, pattern: text(schema, say) }
}

type Say = (when: unknown, title: string, ...descriptions: ReadonlyArray<string>) => void

const types = ({ $id }: JsonObject, say: Say): void => {
  const builtIn = typeof $id === "string" && $id.startsWith("/schemas/")
  say(builtIn, String($id).slice("/schemas/".length))
  say($id === "/schemas/object", "object", "an object in the TypeScript meaning, i.e. the `object` type")
  // These have no keyword of their own.
  say(true, "validDate", "a valid Date")
  say(true, "nonNaN", "a number excluding NaN")
}

const numbers = (schema: JsonObject, say: Say): void => {
  const { exclusiveMaximum: below, exclusiveMinimum: above, maximum: most, minimum: least, multipleOf, type } = schema
  say(type === "integer", "int", "an integer")
  say(type === "number", "finite", "a finite number")
  say(multipleOf, `multipleOf(${multipleOf})`, `a number divisible by ${multipleOf}`)
  say(above, `greaterThan(${above})`, `a number greater than ${above}`)
  say(least, `greaterThanOrEqualTo(${least})`, `a number greater than or equal to ${least}`)
  say(below, `lessThan(${below})`, `a number less than ${below}`)
  say(most, `lessThanOrEqualTo(${most})`, `a number less than or equal to ${most}`)
  say(least, `between(${least}, ${most})`, `a number between ${least} and ${most}`)
  say(above === 0, "positive", "a positive number")
  say(least === 0, "nonNegative", "a non-negative number")
  say(below === 0, "negative", "a negative number")
  say(most === 0, "nonPositive", "a non-positive number")
}

const strings = ({ maxLength: most, minLength: least, pattern }: JsonObject, say: Say): void => {
  say(least, `minLength(${least})`, `a string at least ${least} character(s) long`)
  say(most, `maxLength(${most})`, `a string at most ${most} character(s) long`)
  say(least, `length(${least})`, `a string ${least} character(s) long`)
  say(least === 1, "length(1)", "a single character")
  say(least === 1, "nonEmptyString", "a non empty string")
  say(
    least,
    `length({ min: ${least}, max: ${most})`,
    `a string at least ${least} character(s) and at most ${most} character(s) long`
  )
  // What these describe is said better by their description than by their pattern.
  for (const title of ["trimmed", "lowercased", "uppercased", "capitalized", "uncapitalized"]) say(pattern, title)
  say(pattern, `pattern(/${pattern}/)`, `a string matching the pattern ${pattern}`)
}

const texts = {
  startsWith: {
    words: "starting with",
    meant: (text: string) => `^${escape(text)}`,
    made: (text: string) => `^${text}`
  },
  endsWith: {
    words: "ending with",
    meant: (text: string) => `${escape(text)}$`,
    made: (text: string) => `^.*${text}$`
  },
  includes: { words: "including", meant: (text: string) => escape(text), made: (text: string) => `.*${text}.*` }
}

/** Effect puts the text of these filters into a pattern as it is, dots and brackets and all. */
const text = ({ pattern, title }: JsonObject, say: Say): string | undefined => {
  const found = typeof title === "string" ? /^(startsWith|endsWith|includes)\((".*")\)$/s.exec(title) : null
  const text = found === null ? undefined : Json.parse(found[2]!)
  if (found === null || typeof text !== "string") return undefined
  const { made, meant, words } = texts[found[1] as keyof typeof texts]
  if (pattern !== made(text)) return undefined
  say(true, found[0], `a string ${words} ${found[2]!}`)
  return meant(text)
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
