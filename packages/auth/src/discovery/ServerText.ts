/**
 * Makes texts of a server fit for an error message: short, on one line, without control characters. `flow/TokenEndpoint` removes the
 * secrets that a server repeats.
 */

const MAX = 200

export const shorten = (text: string): string => {
  const line = text.slice(0, 4 * MAX).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > MAX ? `${line.slice(0, MAX)}…` : line
}

/** A URL without what may be secret: its query, its fragment and its credentials. */
export const location = (url: URL): string => shorten(`${url.protocol}//${url.host}${url.pathname}`)

/** The code of an OAuth error. Anything else a server writes there is not repeated. */
export const errorCode = (value: unknown): string | undefined =>
  typeof value === "string" && /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/.test(value) ? value : undefined
