/**
 * Treats an empty cursor as an absent cursor, with revision 2025-11-25 and earlier. Some servers of these revisions end a list with
 * `nextCursor: ""`, and some clients begin a list with `cursor: ""`. `isAbsent` makes the list methods of these revisions
 * (`legacy/Methods`, `legacy/TaskMethods`) leave out empty cursors. With revision 2026-07-28, an empty cursor is a normal cursor. The
 * server of this library never returns an empty cursor. When a client sends an empty cursor, this server begins at the first entry of the
 * list.
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
