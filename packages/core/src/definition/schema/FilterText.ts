/**
 * Recognizes the text that Effect's built-in types and filters add to a JSON Schema: titles and descriptions that repeat the keywords
 * (`"title": "between(0, 5)"`) and cost a model tokens, and patterns that contain unescaped text.
 *
 * The module recognizes this text by the keywords that the text repeats, so text of an author stays. `JsonSchema` removes the recognized
 * text. `SchemaAnnotations` treats all other text as text of an author.
 */
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"

export interface FilterText {
  readonly titles: ReadonlySet<unknown>
  readonly descriptions: ReadonlySet<unknown>
  /** The pattern with its text escaped; `undefined` when the schema has no pattern, or when its pattern is correct. */
  readonly pattern: string | undefined
}

/** The result for a schema without title and description, to which Effect has added no text. */
export const none: FilterText = { titles: new Set(), descriptions: new Set(), pattern: undefined }

/** Returns the text that Effect could have added to a schema with these keywords. */
export const make = (schema: JsonObject): FilterText => {
  const titles = new Set<unknown>()
  const descriptions = new Set<unknown>()
  const add: Add = (when, title, ...texts) => {
    if (when === undefined || when === false) return
    titles.add(title)
    for (const text of texts) descriptions.add(text)
  }
  types(schema, add)
  numbers(schema, add)
  strings(schema, add)
  const { maxItems, minItems } = schema
  add(minItems, `minItems(${minItems})`, `an array of at least ${minItems} item(s)`)
  add(maxItems, `maxItems(${maxItems})`, `an array of at most ${maxItems} item(s)`)
  add(minItems, `itemsCount(${minItems})`, `an array of exactly ${minItems} item(s)`)
  return { titles, descriptions, pattern: correctPattern(schema, add) }
}

/** Adds the text of one filter when the schema has the keyword of the filter. */
type Add = (when: unknown, title: string, ...descriptions: ReadonlyArray<string>) => void

const types = ({ $id }: JsonObject, add: Add): void => {
  const builtIn = typeof $id === "string" && $id.startsWith("/schemas/")
  add(builtIn, String($id).slice("/schemas/".length))
  add($id === "/schemas/object", "object", "an object in the TypeScript meaning, i.e. the `object` type")
  // The filters of these texts have no keyword.
  add(true, "validDate", "a valid Date")
  add(true, "nonNaN", "a number excluding NaN")
}

const numbers = (schema: JsonObject, add: Add): void => {
  const { exclusiveMaximum: below, exclusiveMinimum: above, maximum: most, minimum: least, multipleOf, type } = schema
  add(type === "integer", "int", "an integer")
  add(type === "number", "finite", "a finite number")
  add(multipleOf, `multipleOf(${multipleOf})`, `a number divisible by ${multipleOf}`)
  add(above, `greaterThan(${above})`, `a number greater than ${above}`)
  add(least, `greaterThanOrEqualTo(${least})`, `a number greater than or equal to ${least}`)
  add(below, `lessThan(${below})`, `a number less than ${below}`)
  add(most, `lessThanOrEqualTo(${most})`, `a number less than or equal to ${most}`)
  add(least, `between(${least}, ${most})`, `a number between ${least} and ${most}`)
  add(above === 0, "positive", "a positive number")
  add(least === 0, "nonNegative", "a non-negative number")
  add(below === 0, "negative", "a negative number")
  add(most === 0, "nonPositive", "a non-positive number")
}

const strings = ({ maxLength: most, minLength: least, pattern }: JsonObject, add: Add): void => {
  add(least, `minLength(${least})`, `a string at least ${least} character(s) long`)
  add(most, `maxLength(${most})`, `a string at most ${most} character(s) long`)
  add(least, `length(${least})`, `a string ${least} character(s) long`)
  add(least === 1, "length(1)", "a single character")
  add(least === 1, "nonEmptyString", "a non empty string")
  add(
    least,
    `length({ min: ${least}, max: ${most})`,
    `a string at least ${least} character(s) and at most ${most} character(s) long`
  )
  // The descriptions of these filters stay: they are easier to read than the patterns.
  for (const title of ["trimmed", "lowercased", "uppercased", "capitalized", "uncapitalized"]) add(pattern, title)
  add(pattern, `pattern(/${pattern}/)`, ofPattern(pattern))
}

/** Returns the text with which Effect describes a pattern. */
export const ofPattern = (pattern: unknown): string => `a string matching the pattern ${pattern}`

const textFilters = {
  startsWith: {
    phrase: "starting with",
    correct: (text: string) => `^${escape(text)}`,
    generated: (text: string) => `^${text}`
  },
  endsWith: {
    phrase: "ending with",
    correct: (text: string) => `${escape(text)}$`,
    generated: (text: string) => `^.*${text}$`
  },
  includes: {
    phrase: "including",
    correct: (text: string) => escape(text),
    generated: (text: string) => `.*${text}.*`
  }
}

/**
 * Returns the correct pattern of a filter, because Effect generates it without escaping its text; `undefined` when the pattern is correct.
 */
const correctPattern = ({ pattern, title }: JsonObject, add: Add): string | undefined => {
  const match = typeof title === "string" ? /^(startsWith|endsWith|includes)\((".*")\)$/s.exec(title) : null
  const text = match === null ? undefined : JsonText.parse(match[2]!)
  if (match === null || typeof text !== "string") return undefined
  const { correct, generated, phrase } = textFilters[match[1] as keyof typeof textFilters]
  if (pattern !== generated(text)) return undefined
  add(true, match[0], `a string ${phrase} ${match[2]!}`)
  return correct(text)
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
