/**
 * Prepares texts of a server for an error message: short, on one line, without control characters. `flow/TokenEndpoint` removes secrets
 * that a server repeats in its text.
 */

const MAX = 200

export const shorten = (text: string): string => {
  const line = text.slice(0, 4 * MAX).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > MAX ? `${line.slice(0, MAX)}…` : line
}

/** Returns a URL without the parts that may be secret: query, fragment and credentials. */
export const location = (url: URL): string => shorten(`${url.protocol}//${url.host}${url.pathname}`)

/** Returns the code of an OAuth error; `undefined` when the value is not a valid code. */
export const errorCode = (value: unknown): string | undefined =>
  typeof value === "string" && /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/.test(value) ? value : undefined
