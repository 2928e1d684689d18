/**
 * Text for a model: whole characters only, and of bounded length. A server can send half of a character, and a cut can leave
 * one; the APIs of models refuse a whole request for it.
 */

const MAX_NAME = 100

/** The text with "\uFFFD" in place of each half of a character. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\uFFFD")

/** At most so many characters; a cut text ends with "…". */
export const shortened = (text: string, limit: number): string =>
  wellFormed(text.length <= limit ? text : `${text.slice(0, limit - 1)}…`)

/** A name in a sentence. */
export const quoted = (name: string): string => JSON.stringify(shortened(name, MAX_NAME))
