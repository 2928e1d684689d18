/**
 * Up to 2025-11-25 an empty cursor means that there is no cursor: servers end a list with `nextCursor: ""`, and clients begin a list with
 * `cursor: ""`. `isAbsent` makes the list methods of the legacy era (`legacy/Methods`, `legacy/TaskMethods`) leave empty cursors out.
 * From 2026-07-28 on an empty cursor is a cursor: the server's own lists, which give no empty cursors, begin at an empty cursor.
 */
import * as Either from "effect/Either"
import type * as Method from "../Method.js"

/** A list method whose decoders leave out empty cursors. */
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
