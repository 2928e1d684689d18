/**
 * The text that Effect's filters add to a JSON Schema: version 4 adds no text, and writes correct patterns. `JsonSchema` uses this module
 * in place of the module for version 3.
 */
import type { JsonObject } from "../../protocol/Json.js"

export interface FilterText {
  readonly titles: ReadonlySet<unknown>
  readonly descriptions: ReadonlySet<unknown>
  /** The pattern with its text escaped; `undefined` when the schema has no pattern, or a correct pattern. */
  readonly pattern: string | undefined
}

export const none: FilterText = { titles: new Set(), descriptions: new Set(), pattern: undefined }

export const make = (_schema: JsonObject): FilterText => none

/** Returns the text with which Effect describes a pattern. */
export const ofPattern = (pattern: unknown): string => `a string matching the pattern ${pattern}`
