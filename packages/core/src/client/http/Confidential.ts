/**
 * The values of the client's own headers that no error may quote, for `RefusedResponse` and `PlatformError`. `fetch` takes away the white
 * space around a value, so a server or the platform quotes the value without it.
 */
import type * as Headers from "@effect/platform/Headers"

/** A shorter value is not a secret, and may be a part of other words. */
const MIN_LENGTH = 8

/** The values, each followed by what comes after its scheme. */
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

/** Whether the message of an error, or of one of its causes, quotes a value. */
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

/** How many causes of causes are read. */
const MAX_DEPTH = 8

const publicNames = new Set(["accept", "content-type", "content-length", "mcp-protocol-version", "user-agent"])

/** Headers of the protocol repeat the body, so the server's text may repeat them. */
const isPublic = (name: string): boolean =>
  publicNames.has(name) || name === "mcp-method" || name === "mcp-name" || name.startsWith("mcp-param-")
