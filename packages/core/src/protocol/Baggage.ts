/**
 * W3C Baggage: names and values that travel with a trace, such as the tenant of a request. Handlers of a server with
 * `ServerTelemetry.layer` find what their caller has sent, and a client with `ClientTelemetry.layer` sends the entries that its application
 * names. Every program on the way can read and replace baggage: it proves nothing.
 *
 * @see https://www.w3.org/TR/baggage/
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"

/**
 * The entries of the request that is served, and the entries that the application has added.
 *
 * @category tags
 */
export class Baggage extends Context.Reference<Baggage>()("@effect-mcp/core/protocol/Baggage", {
  defaultValue: (): ReadonlyMap<string, string> => new Map()
}) {}

/**
 * The longest text that is read or sent, in characters.
 *
 * @category constants
 */
export const MAX_LENGTH = 8192

/**
 * How many entries are read or sent.
 *
 * @category constants
 */
export const MAX_ENTRIES = 64

/**
 * Runs an effect whose calls have these entries, too.
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
 * The entries of a text; `undefined` when the text is too long, has too many entries, has an entry that is not valid, or has an entry
 * twice. Properties of entries are left out.
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
 * The text of the entries that `isSent` wants; `undefined` where there are none. An entry whose key no text can have, and an entry beyond
 * the limits, is left out.
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

/** Half a surrogate pair has no percent-encoding. */
const wellFormed = (value: string): string => new TextDecoder().decode(new TextEncoder().encode(value))

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/
const entry =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256})[ \t]*=[ \t]*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)[ \t]*(?:;.*)?$/

/** Decodes percent-encoded octets; an octet that is not UTF-8 becomes a replacement character. */
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
