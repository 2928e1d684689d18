/**
 * Finds the first place at which two JSON values differ, and describes the difference for the failure of a test. `ChosenValues` decides
 * which values may differ, and `Replay` fails with the description.
 */
import * as JsonText from "@effect-mcp/core/unstable/jsonrpc/JsonText"

export interface Difference {
  readonly path: ReadonlyArray<string>
  readonly recorded: unknown
  readonly received: unknown
}

/** Returns the first difference; `undefined` when both values are equal. The order of members does not matter. */
export const first = (
  recorded: unknown,
  received: unknown,
  path: ReadonlyArray<string> = []
): Difference | undefined => {
  if (Object.is(recorded, received)) return undefined
  if (!isNested(recorded) || !isNested(received) || Array.isArray(recorded) !== Array.isArray(received)) {
    return { path, recorded, received }
  }
  // The method is compared first, because a different method is a clearer explanation than a different id.
  for (const key of new Set(["method", ...Object.keys(recorded), ...Object.keys(received)])) {
    const found = first(recorded[key], received[key], [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns a text with three lines: the place, the recorded value and the received value. The values are shortened. */
export const render = ({ path, received, recorded }: Difference): string =>
  `at ${path.join(".")}\n    recorded: ${text(recorded)}\n    received: ${text(received)}`

const isNested = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

const text = (value: unknown): string => {
  const json = value === undefined ? "nothing" : JsonText.stringify(value) ?? String(value)
  return json.length > MAX_TEXT ? `${json.slice(0, MAX_TEXT)}…` : json
}

const MAX_TEXT = 300
