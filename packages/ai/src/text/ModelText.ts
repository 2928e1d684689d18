/**
 * Makes text for a model. The text has a limited length and contains no lone surrogate, which is half of a character in UTF-16. A server
 * can send a lone surrogate, or a function that cuts a text can leave a lone surrogate at the end. The APIs of models refuse a whole
 * request that contains a lone surrogate.
 *
 * `ToolList`, `ToolOutput`, `Conversion` and `SamplingPrompt` use these functions for lists, outputs, schemas and prompts. `ModelName`
 * makes the names of tools.
 */

const MAX_NAME = 100

/** Returns the text with "\uFFFD" in place of each lone surrogate. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** Returns the JSON value with "\uFFFD" in place of each lone surrogate in its texts and in the names of its members. */
export const wellFormedJson = <A>(value: A): A => {
  const text = JSON.stringify(value)
  // JSON escapes only lone surrogates, and writes whole characters unchanged.
  return /\\ud[89a-f]/.test(text)
    ? JSON.parse(text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\uFFFD")) as A
    : value
}

/** Returns the text, cut to `limit` characters. A text that was cut ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)

/** Writes a name for use in a sentence: in quotes, and cut to 100 characters. */
export const quoted = (name: string): string => JSON.stringify(shortened(name, MAX_NAME))
