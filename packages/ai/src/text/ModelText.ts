/**
 * Text for a model: whole characters only, and of bounded length. A server can send half of a character, and a cut can leave
 * one; the APIs of models refuse a whole request for it.
 */

const MAX_NAME = 100

/** The text with "\uFFFD" in place of each half of a character. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** The same JSON value with whole characters only, in its names as in its texts. */
export const wellFormedJson = <A>(value: A): A => {
  const text = JSON.stringify(value)
  // JSON has an escape for each half of a character, and writes whole ones as they are.
  return /\\ud[89a-f]/.test(text)
    ? JSON.parse(text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\uFFFD")) as A
    : value
}

/** At most so many characters; a cut text ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)

/** A name in a sentence. */
export const quoted = (name: string): string => JSON.stringify(shortened(name, MAX_NAME))
