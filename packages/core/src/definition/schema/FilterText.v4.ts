/**
 * The text that Effect's filters add to a JSON Schema: version 4 adds none, and writes correct patterns. `JsonSchema` asks this module, as
 * it asks the module for version 3.
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

/** How Effect describes a pattern. */
export const ofPattern = (pattern: unknown): string => `a string matching the pattern ${pattern}`
