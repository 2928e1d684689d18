/**
 * Compares a value that a store has found with the value that was stored. A store may change the order of members, and drop members whose
 * value is `undefined`. `SessionDirectoryLaws` and `TaskStoreLaws` call `isSame`.
 */
import * as Option from "effect/Option"

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, member]) => [key, sorted(member)])
    )
    : value

export const isSame = <A>(found: Option.Option<A>, expected: A): boolean =>
  Option.isSome(found) && JSON.stringify(sorted(found.value)) === JSON.stringify(sorted(expected))
