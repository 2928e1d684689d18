/**
 * Encodes the results of a method for one revision: checks a result that this library did not build, and removes what the revision
 * does not know. From 2026-07-28 on it also adds what every result has then. The method's row in the table of its era says what that is.
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Version } from "@effect-mcp/protocol/Version"
import type { Hints } from "../CacheOptions.js"
import * as Reply from "./Reply.js"
import type { Route } from "./Route.js"

/** A result that no route encodes, because it is not a result of the method: the task that a call has become. */
export class Encoded {
  constructor(readonly result: {}) {}
}

/** Encodes one result; "Internal error" when it is not a result of the method. `hints` are those of this result. */
export type Encoder = (result: unknown, hints?: Hints) => Outcome

/** The encoder of a method and a revision. It is made once, and used for every message. */
export const make = (
  method: Method.Request,
  version: Version,
  options: {
    /** Whether results are encoded without a check. */
    readonly isTrusted: boolean
    /** Whether the same object comes many times, so that its encoding is cached as long as the object lives. */
    readonly isStable: boolean
    readonly problem?: Route["problem"] | undefined
  },
  stamp?: (result: Params) => Params
): Encoder => {
  const narrow = method.narrowResult(version) as (result: {}) => Params
  const compiled = stamp === undefined ? narrow : (result: {}) => stamp(narrow(result))
  const encode = options.isStable ? cached(compiled) : compiled
  return (value, hints) => {
    const checked = options.isTrusted ? { result: value as Params } : Reply.result(value, method, options.problem)
    if (checked.result === undefined) return checked
    const result = encode(hints === undefined ? checked.result : { ...hints, ...checked.result })
    return checked.flaw === undefined ? { result } : { result, flaw: checked.flaw }
  }
}

const cached = (encode: (result: {}) => Params): (result: {}) => Params => {
  const encoded = new WeakMap<{}, Params>()
  return (result) => {
    let found = encoded.get(result)
    if (found === undefined) encoded.set(result, found = encode(result))
    return found
  }
}
