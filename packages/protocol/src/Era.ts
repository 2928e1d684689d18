/**
 * The two eras of the protocol, in the specification's words: *legacy*, which begins with a handshake and may have a
 * session, and *modern*, in which every request carries all that the server needs to know. A server classifies each
 * message once, where it arrives; the modules after that point belong to one era or to both.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 * @since 0.1.0
 */
import type { JsonObject } from "./Json.js"
import { keys } from "./Meta.js"
import * as Version from "./Version.js"

export type Era = "legacy" | "modern"

/** The `_meta` key in which a modern request names its revision. */
export const VERSION_KEY = keys.protocolVersion

/** The era of a revision; `undefined` for an unknown revision. */
export const ofVersion = (version: string): Era | undefined =>
  Version.isLegacy(version) ? "legacy" : Version.isModern(version) ? "modern" : undefined

const date = /^\d{4}-\d{2}-\d{2}$/

/**
 * The era of a request or a notification: modern when its `_meta` names a revision, known or not, else legacy.
 * `initialize` is legacy whatever its `_meta` holds.
 *
 * `header` is the `MCP-Protocol-Version` of an HTTP request. When it names a modern or a later revision and the body
 * names none, the request is modern and its envelope is incomplete.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
export const ofMessage = (
  { method, params }: { readonly method: string; readonly params?: JsonObject | undefined },
  header?: string
): Era => {
  if (method === "initialize") return "legacy"
  const meta = params?._meta
  if (typeof meta === "object" && meta !== null && Object.hasOwn(meta, VERSION_KEY)) return "modern"
  return header !== undefined && date.test(header) && Version.isAtLeast(header, Version.modern[0]) ? "modern" : "legacy"
}
