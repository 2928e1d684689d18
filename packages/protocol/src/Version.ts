/**
 * The dated revisions of the Model Context Protocol, their order, and the choice of one that both sides speak.
 *
 * What differs between them is not here: each field says for itself when it came (`Since`), each method in the tables of
 * `legacy/Methods` and `modern/Methods`.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * @since 0.1.0
 * @category models
 */
export type LegacyVersion = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25"

/**
 * @since 0.1.0
 * @category models
 */
export type ModernVersion = "2026-07-28"

/**
 * @since 0.1.0
 * @category models
 */
export type Version = LegacyVersion | ModernVersion

/**
 * The revisions that begin with `initialize`, oldest first.
 *
 * @since 0.1.0
 * @category constants
 */
export const legacy: readonly [LegacyVersion, ...Array<LegacyVersion>] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25"
]

/**
 * The revisions in which every request speaks for itself, oldest first.
 *
 * @since 0.1.0
 * @category constants
 */
export const modern: readonly [ModernVersion, ...Array<ModernVersion>] = ["2026-07-28"]

/**
 * Every revision, oldest first.
 *
 * @since 0.1.0
 * @category constants
 */
export const all: ReadonlyArray<Version> = [...legacy, ...modern]

/**
 * What a client asks for in `initialize`, and a server offers when it does not know what it was asked for.
 *
 * @since 0.1.0
 * @category constants
 */
export const latestLegacy: LegacyVersion = "2025-11-25"

/**
 * What a client asks for when it does not know what the server speaks.
 *
 * @since 0.1.0
 * @category constants
 */
export const latestModern: ModernVersion = "2026-07-28"

/**
 * @since 0.1.0
 * @category schemas
 */
export const Version: Schema.Literal<[LegacyVersion, LegacyVersion, LegacyVersion, LegacyVersion, ModernVersion]> =
  Schema.Literal("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

/**
 * @since 0.1.0
 * @category guards
 */
export const isLegacy = (version: string): version is LegacyVersion =>
  (legacy as ReadonlyArray<string>).includes(version)

/**
 * @since 0.1.0
 * @category guards
 */
export const isModern = (version: string): version is ModernVersion =>
  (modern as ReadonlyArray<string>).includes(version)

/**
 * Whether `version` is `than` or newer. Revisions are dates, and dates of this form sort as text.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAtLeast = (version: string, than: Version): boolean => version >= than

/**
 * What a server answers to `initialize`: the version asked for if it speaks it, else the latest it speaks.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 * @since 0.1.0
 * @category negotiation
 */
export const negotiate = (
  requested: string,
  supported: ReadonlyArray<LegacyVersion> = legacy
): LegacyVersion =>
  supported.find((version) => version === requested) ??
    supported.reduce((latest, version) => version > latest ? version : latest)

/**
 * What a client does with the answer to `initialize`: the version of the conversation if it speaks that, and nothing if it
 * has to hang up.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 * @since 0.1.0
 * @category negotiation
 */
export const agreed = (
  answered: string,
  spoken: ReadonlyArray<LegacyVersion> = legacy
): Option.Option<LegacyVersion> => Option.fromNullable(spoken.find((version) => version === answered))

/**
 * What a client picks of the versions that a server says it supports, in `server/discover` or in a refusal: the latest that
 * it speaks, too.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#version-negotiation
 * @since 0.1.0
 * @category negotiation
 */
export const latestCommon = <V extends Version = Version>(
  supported: ReadonlyArray<string>,
  spoken: ReadonlyArray<V> = all as ReadonlyArray<V>
): Option.Option<V> =>
  Option.fromNullable(
    spoken.filter((version) => supported.includes(version)).sort().at(-1)
  )
