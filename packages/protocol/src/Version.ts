/**
 * The dated revisions of the Model Context Protocol, their order, and the choice of one that both sides speak.
 *
 * What differs between them is not here: each field says for itself when it came (`Since`), each method in the tables of
 * `legacy/Methods` and `modern/Methods`.
 *
 * @since 0.1.0
 */
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
