/**
 * Treats an empty cursor as an absent cursor in messages of revision 2025-11-25 and earlier. Some servers of these revisions end a list
 * with `nextCursor: ""`, and some clients begin a list with `cursor: ""`. With `isAbsent`, the decoders of the list methods of these
 * revisions (`legacy/Methods`, `legacy/TaskMethods`) leave out empty cursors.
 *
 * The decoders of revision 2026-07-28 do not use this module. When a server of that revision ends a page with an empty `nextCursor`, the
 * client sends this cursor back, as it does with every other cursor. The server of this library never sends an empty cursor.
 */
import * as Either from "effect/Either"
import type * as Method from "../Method.js"

/** Returns the same list method, but its decoders leave out empty cursors. */
export const isAbsent = <Name extends string, Params, Result>(
  method: Method.Request<Name, Params, Result>
): Method.Request<Name, Params, Result> => ({
  ...method,
  decodeParams: (params, onLoss) => Either.map(method.decodeParams(params, onLoss), without("cursor")),
  decodeResult: (result, onLoss) => Either.map(method.decodeResult(result, onLoss), without("nextCursor"))
})

const without = (name: string) => <A>(value: A): A => {
  if ((value as Record<string, unknown>)[name] !== "") return value
  const copy = { ...value as Record<string, unknown> }
  delete copy[name]
  return copy as A
}
