/**
 * The dated revisions of the Model Context Protocol: their order, how two sides agree on a revision, and some differences between
 * revisions.
 *
 * The specification divides the revisions into two eras. The *legacy* era has the revisions up to 2025-11-25: a conversation begins with
 * the `initialize` handshake and may have a session. The *modern* era has revision 2026-07-28: every request contains the data that the
 * server needs, and there is no handshake. A server determines the era of each message once, when the message arrives. Which revisions have
 * a field or a method is written beside the field or the method: see `Since` for fields, and the tables in `legacy/Methods` and
 * `modern/Methods` for methods.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.js"
import { keys } from "./Meta.js"

/**
 * A legacy revision: its conversations begin with `initialize`.
 *
 * @category models
 */
export type LegacyVersion = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25"

/**
 * A modern revision: every request contains the data of its client.
 *
 * @category models
 */
export type ModernVersion = "2026-07-28"

/** @category models */
export type Version = LegacyVersion | ModernVersion

/**
 * The legacy revisions, oldest first.
 *
 * @category constants
 */
export const legacy: readonly [LegacyVersion, ...Array<LegacyVersion>] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25"
]

/**
 * The modern revisions, oldest first.
 *
 * @category constants
 */
export const modern: readonly [ModernVersion, ...Array<ModernVersion>] = ["2026-07-28"]

/**
 * Every revision, oldest first.
 *
 * @category constants
 */
export const all: readonly [Version, ...Array<Version>] = [...legacy, ...modern]

/**
 * The latest legacy revision. A legacy client requests this revision in `initialize`. A server answers with this revision when a client
 * requests an unknown revision.
 *
 * @category constants
 */
export const latestLegacy: LegacyVersion = "2025-11-25"

/**
 * The latest modern revision. A modern client uses this revision in its first request.
 *
 * @category constants
 */
export const latestModern: ModernVersion = "2026-07-28"

/**
 * The revision of an HTTP request that has no `MCP-Protocol-Version` header and belongs to no session.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 * @category constants
 */
export const withoutHeader: LegacyVersion = "2025-03-26"

/** @category schemas */
export const Version: Schema.Literal<[LegacyVersion, LegacyVersion, LegacyVersion, LegacyVersion, ModernVersion]> =
  Schema.Literal("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

/** @category guards */
export const isLegacy = (version: string): version is LegacyVersion =>
  (legacy as ReadonlyArray<string>).includes(version)

/** @category guards */
export const isModern = (version: string): version is ModernVersion =>
  (modern as ReadonlyArray<string>).includes(version)

/**
 * Whether `version` is the revision `than` or a later revision. Revisions are dates, so they are compared as text.
 *
 * @category guards
 */
export const isAtLeast = (version: string, than: Version): boolean => version >= than

/**
 * Whether a revision allows JSON-RPC batches.
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 * @category guards
 */
export const hasBatches = (version: string | undefined): boolean => version === "2025-03-26"

/**
 * Whether a resumable SSE stream begins with an event that has an id and no data. The result is `true` only for revision 2025-11-25 or
 * later, because clients of earlier revisions would read the event as a message.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 * @category utils
 */
export const primesStreams = (version: string | undefined): boolean => version !== undefined && version >= "2025-11-25"

// The first revision was named 2024-10-07 before its release. Old clients and servers still send this name.
const canonical = (version: string): string => version === "2024-10-07" ? "2024-11-05" : version

/**
 * Returns the revision with which a server answers `initialize`: the requested revision if the server supports it, otherwise the latest
 * revision that the server supports.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 * @category utils
 */
export const negotiate = (
  requested: string,
  supported: ReadonlyArray<LegacyVersion> = legacy
): LegacyVersion =>
  supported.find((version) => version === canonical(requested)) ??
    supported.reduce((latest, version) => version > latest ? version : latest)

/**
 * Returns the revision of the conversation after a server has answered `initialize`. Returns `None` when the client does not support the
 * revision in the answer. The client must then disconnect.
 *
 * @category utils
 */
export const agreed = (
  answered: string,
  supported: ReadonlyArray<LegacyVersion> = legacy
): Option.Option<LegacyVersion> => Option.fromNullable(supported.find((version) => version === canonical(answered)))

/** @category models */
export type Era = "legacy" | "modern"

/**
 * The key in `_meta` with which a modern request names its revision.
 *
 * @category constants
 */
export const VERSION_KEY = keys.protocolVersion

/**
 * Returns the era of a revision; `undefined` when the revision is not known.
 *
 * @category utils
 */
export const eraOf = (version: string): Era | undefined =>
  isLegacy(version) ? "legacy" : isModern(version) ? "modern" : undefined

const DATE = /^\d{4}-\d{2}-\d{2}$/

/**
 * Returns the era of a request or a notification. `initialize` is always legacy. Every other message is modern when its `_meta` names a
 * revision, even an unknown revision, or when `header` names revision 2026-07-28 or a later date. Otherwise the message is legacy.
 *
 * `header` is the `MCP-Protocol-Version` header of an HTTP request. When only the header names such a revision, the `_meta` of the request
 * is incomplete.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 * @category utils
 */
export const eraOfMessage = (
  { method, params }: { readonly method: string; readonly params?: JsonObject | undefined },
  header?: string
): Era => {
  if (method === "initialize") return "legacy"
  const meta = params?._meta
  if (typeof meta === "object" && meta !== null && Object.hasOwn(meta, VERSION_KEY)) return "modern"
  return header !== undefined && DATE.test(header) && header >= modern[0] ? "modern" : "legacy"
}
