/**
 * Text for a model, of bounded length and with whole characters only. A server can send half of a character, and cutting a text can leave
 * half of a character; the APIs of models refuse a whole request that contains half of a character.
 *
 * `ToolList`, `ToolOutput`, `Conversion` and `SamplingPrompt` write lists, outputs, schemas and prompts with these functions; `ModelName`
 * makes the names of tools.
 */

const MAX_NAME = 100

/** The text with "\uFFFD" in place of each half of a character. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** The same JSON value with whole characters only, in the names of members and in texts. */
export const wellFormedJson = <A>(value: A): A => {
  const text = JSON.stringify(value)
  // JSON has an escape for each half of a character, and writes whole characters as they are.
  return /\\ud[89a-f]/.test(text)
    ? JSON.parse(text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\uFFFD")) as A
    : value
}

/** At most `limit` characters; a text that is cut ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)

/** A name for a sentence: in quotes, and at most 100 characters of the name. */
export const quoted = (name: string): string => JSON.stringify(shortened(name, MAX_NAME))
