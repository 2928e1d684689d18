/**
 * W3C Baggage: names and values that travel with a trace, such as the tenant of a request. Handlers of a server with
 * `ServerTelemetry.layer` find the entries that their caller has sent. A client with `ClientTelemetry.layer` sends the entries whose keys
 * its application lists. Every program on the way can read and replace baggage, so an entry proves nothing.
 *
 * @see https://www.w3.org/TR/baggage/
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"

/**
 * The entries of the request that is served now, and the entries that the application has added.
 *
 * @category tags
 */
export class Baggage extends Context.Reference<Baggage>()("@effect-mcp/core/protocol/Baggage", {
  defaultValue: (): ReadonlyMap<string, string> => new Map()
}) {}

/**
 * How many characters a baggage text may have. This module ignores a received text that is longer, and never makes a longer text.
 *
 * @category constants
 */
export const MAX_LENGTH = 8192

/**
 * How many entries a baggage text may have. This module ignores a received text that has more entries, and never makes a text with more
 * entries.
 *
 * @category constants
 */
export const MAX_ENTRIES = 64

/**
 * Runs an effect. The requests that the effect sends have these baggage entries in addition to the entries that they already have.
 *
 * @example
 * ```ts
 * import type * as ClientSession from "@effect-mcp/core/ClientSession"
 * import * as Baggage from "@effect-mcp/core/protocol/Baggage"
 *
 * // With `ClientTelemetry.layer({ baggage: { keys: ["tenant"] } })` the server gets `tenant=acme`.
 * export const found = (client: ClientSession.ClientSessionService) =>
 *   Baggage.withEntries(client.callTool("find"), { tenant: "acme" })
 * ```
 * @category combinators
 */
export const withEntries: {
  (entries: Readonly<Record<string, string>>): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(effect: Effect.Effect<A, E, R>, entries: Readonly<Record<string, string>>): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(effect: Effect.Effect<A, E, R>, entries: Readonly<Record<string, string>>): Effect.Effect<A, E, R> =>
    Effect.flatMap(
      Baggage,
      (before) => Effect.provideService(effect, Baggage, new Map([...before, ...Object.entries(entries)]))
    )
)

/**
 * Returns the entries of a baggage text. Returns `undefined` when the text is empty or too long, has too many entries, has an entry that is
 * not valid, or has a key twice. Leaves out the properties of entries.
 *
 * @category decoding
 */
export const parse = (text: unknown): ReadonlyMap<string, string> | undefined => {
  if (typeof text !== "string" || text === "" || text.length > MAX_LENGTH) return undefined
  const parts = text.split(",")
  if (parts.length > MAX_ENTRIES) return undefined
  const entries = new Map<string, string>()
  for (const part of parts) {
    const found = entry.exec(part.trim())
    const value = found === null ? undefined : decoded(found[2]!)
    if (value === undefined || entries.has(found![1]!)) return undefined
    entries.set(found![1]!, value)
  }
  return entries
}

/**
 * Returns a baggage text with the entries for whose key `isSent` returns `true`. Leaves out each entry whose key is not allowed in a text,
 * and each entry that would exceed a limit. Returns `undefined` when no entry is left.
 *
 * @category encoding
 */
export const format = (
  entries: ReadonlyMap<string, string>,
  isSent: (key: string) => boolean
): string | undefined => {
  const parts: Array<string> = []
  let length = 0
  for (const [key, value] of entries) {
    if (!isSent(key) || !token.test(key) || value.length > MAX_LENGTH) continue
    const part = `${key}=${encodeURIComponent(wellFormed(value))}`
    if (parts.length === MAX_ENTRIES || length + part.length + 1 > MAX_LENGTH) continue
    parts.push(part)
    length += part.length + 1
  }
  return parts.length === 0 ? undefined : parts.join(",")
}

/** Returns the value with U+FFFD in place of each half of a surrogate pair. Half of a surrogate pair has no percent-encoding. */
const wellFormed = (value: string): string => new TextDecoder().decode(new TextEncoder().encode(value))

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/
const entry =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256})[ \t]*=[ \t]*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)[ \t]*(?:;.*)?$/

/**
 * Decodes percent-encoded octets. An octet that is not UTF-8 becomes U+FFFD. Returns `undefined` when two hexadecimal digits do not follow
 * a `%`.
 */
const decoded = (value: string): string | undefined => {
  if (!value.includes("%")) return value
  const bytes: Array<number> = []
  for (let i = 0; i < value.length; i++) {
    const octet = value[i] === "%" ? /^[0-9A-Fa-f]{2}/.exec(value.slice(i + 1, i + 3)) : undefined
    if (octet === null) return undefined
    bytes.push(octet === undefined ? value.charCodeAt(i) : Number.parseInt(octet[0], 16))
    if (octet !== undefined) i += 2
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
