/**
 * The first place at which two JSON values differ, in words for the failure of a test. What may differ is decided by
 * `ChosenValues`.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"

export interface Difference {
  readonly path: ReadonlyArray<string>
  readonly recorded: unknown
  readonly received: unknown
}

/** `undefined` where both have the same members, in any order, and the same elements. */
export const first = (
  recorded: unknown,
  received: unknown,
  path: ReadonlyArray<string> = []
): Difference | undefined => {
  if (Object.is(recorded, received)) return undefined
  if (!isNested(recorded) || !isNested(received) || Array.isArray(recorded) !== Array.isArray(received)) {
    return { path, recorded, received }
  }
  // The method tells more than the id.
  for (const key of new Set(["method", ...Object.keys(recorded), ...Object.keys(received)])) {
    const found = first(recorded[key], received[key], [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

/** Two lines below the place: the recorded value and the received one, shortened. */
export const render = ({ path, received, recorded }: Difference): string =>
  `at ${path.join(".")}\n    recorded: ${text(recorded)}\n    received: ${text(received)}`

const isNested = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

const text = (value: unknown): string => {
  const json = value === undefined ? "nothing" : Json.stringify(value) ?? String(value)
  return json.length > MAX_TEXT ? `${json.slice(0, MAX_TEXT)}…` : json
}

const MAX_TEXT = 300
