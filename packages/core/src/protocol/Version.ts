/**
 * The dated revisions of the Model Context Protocol: their order, how two sides agree on a revision, and what an implementation does
 * differently in some of them.
 *
 * Revisions have one of two eras, in the specification's words: *legacy*, which begins with a handshake and may have a session, and
 * *modern*, in which every request carries all that the server needs to know. A server classifies each message once, where it arrives; the
 * modules after that point belong to one era or to both.
 *
 * Fields and methods name their own revisions: see `Since` for fields and the tables in `legacy/Methods` and `modern/Methods` for methods.
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
 * A revision whose conversations begin with `initialize`.
 *
 * @category models
 */
export type LegacyVersion = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25"

/**
 * A revision in which every request carries the data of its client.
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
 * The revision that a legacy client requests, and the answer of a server to a request for an unknown revision.
 *
 * @category constants
 */
export const latestLegacy: LegacyVersion = "2025-11-25"

/**
 * The revision of a modern client's first request.
 *
 * @category constants
 */
export const latestModern: ModernVersion = "2026-07-28"

/**
 * The revision of an HTTP request that carries no `MCP-Protocol-Version` header and belongs to no session.
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
 * Whether `version` is `than` or newer; revisions are dates that sort as text.
 *
 * @category guards
 */
export const isAtLeast = (version: string, than: Version): boolean => version >= than

/**
 * Whether messages may be sent in JSON-RPC batches.
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 * @category guards
 */
export const hasBatches = (version: string | undefined): boolean => version === "2025-03-26"

/**
 * Whether a resumable SSE stream begins with an event that has an id and no data. Clients of older revisions take such
 * an event for a message.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 * @category utils
 */
export const primesStreams = (version: string | undefined): boolean => version !== undefined && version >= "2025-11-25"

// The name of the first revision before its release, which old clients and servers still send.
const canonical = (version: string): string => version === "2024-10-07" ? "2024-11-05" : version

/**
 * The revision that a server answers to `initialize`: the requested revision if the server supports it, otherwise the
 * latest that it supports.
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
 * The revision of the conversation once a server has answered `initialize`. None when the client does not support the
 * answered revision: then the client must disconnect.
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
 * The `_meta` key in which a modern request names its revision.
 *
 * @category constants
 */
export const VERSION_KEY = keys.protocolVersion

/**
 * The era of a revision; `undefined` for an unknown revision.
 *
 * @category utils
 */
export const eraOf = (version: string): Era | undefined =>
  isLegacy(version) ? "legacy" : isModern(version) ? "modern" : undefined

const DATE = /^\d{4}-\d{2}-\d{2}$/

/**
 * The era of a request or a notification: modern when its `_meta` names a revision, known or not, else legacy.
 * `initialize` is legacy whatever its `_meta` holds.
 *
 * `header` is the `MCP-Protocol-Version` of an HTTP request. When it names a modern or a later revision and the body
 * names none, the request is modern and its envelope is incomplete.
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
