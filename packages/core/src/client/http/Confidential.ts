/**
 * Finds the values of the client's own headers that errors must not quote, for `RefusedResponse` and `PlatformError`. `fetch` removes the
 * white space around a value, so a server or the platform quotes the value without that space.
 */
import type * as Headers from "@effect/platform/Headers"

/** How many characters a value must have to count as a secret. A shorter value may be a part of ordinary words. */
const MIN_LENGTH = 8

/** Returns the secret values of headers. For each header: the whole value, and the value without its scheme (`Bearer`). */
export const valuesOf = (sent: Headers.Headers): ReadonlyArray<string> => {
  const values: Array<string> = []
  for (const [name, given] of Object.entries(sent)) {
    if (isPublic(name)) continue
    const value = given.trim()
    for (const one of [value, value.slice(value.indexOf(" ") + 1).trim()]) {
      if (one.length >= MIN_LENGTH) values.push(one)
    }
  }
  return values
}

/** Whether the message of an error, or of one of its causes, quotes a secret value of these headers. */
export const isQuotedBy = (error: unknown, sent: Headers.Headers): boolean => {
  const values = valuesOf(sent)
  let inner = error
  for (let depth = 0; depth < MAX_DEPTH && inner !== undefined && inner !== null; depth++) {
    const { cause, message } = inner as { readonly cause?: unknown; readonly message?: unknown }
    const text = typeof inner === "string" ? inner : message
    if (typeof text === "string" && values.some((value) => text.includes(value))) return true
    inner = cause
  }
  return false
}

/** How many levels of causes are read. */
const MAX_DEPTH = 8

const publicNames = new Set(["accept", "content-type", "content-length", "mcp-protocol-version", "user-agent"])

/**
 * Whether a header is public. Headers of the protocol only repeat values of the body, so these values are not secret: an error text may
 * contain them.
 */
const isPublic = (name: string): boolean =>
  publicNames.has(name) || name === "mcp-method" || name === "mcp-name" || name.startsWith("mcp-param-")
