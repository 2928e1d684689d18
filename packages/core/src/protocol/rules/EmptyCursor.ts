/**
 * With revision 2025-11-25 and earlier, an empty cursor means that there is no cursor: servers end a list with `nextCursor: ""`, and
 * clients begin a list with `cursor: ""`. `isAbsent` makes the list methods of these revisions (`legacy/Methods`, `legacy/TaskMethods`)
 * leave out empty cursors. With revision 2026-07-28, an empty cursor is a cursor like any other. The lists of this server never return an
 * empty cursor, and begin at their first entry when a client sends one.
 */
import * as Either from "effect/Either"
import type * as Method from "../Method.js"

/** The same list method, with decoders that leave out empty cursors. */
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
