/**
 * Writes values into error messages: quoted, and shortened, so that a message stays readable whatever value an application passed. The
 * modules of `definition` that throw an error, such as `Prompt` and `FormFields`, write the rest of the message.
 */

const MAX_LENGTH = 100

export const shortened = (text: string): string => text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text

/** Returns the text, shortened, in double quotes. */
export const quoted = (text: string): string => `"${shortened(text)}"`
