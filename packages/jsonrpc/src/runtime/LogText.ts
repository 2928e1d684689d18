/**
 * Texts that a peer may have chosen, as the log has them: they begin no line of their own, and are short. `Diagnostic.log`
 * writes the rest of the line.
 */

const MAX_LENGTH = 200

/** The text, shortened, with a space for each character that ends a line or controls a terminal. */
export const shown = (text: string, max: number = MAX_LENGTH): string => {
  const line = text.slice(0, max).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
  return text.length > max ? `${line}…` : line
}

/** The same in double quotes. */
export const quoted = (text: string): string => `"${shown(text)}"`
