/**
 * Encodes the results of a method for one legacy revision: checks a result that this library did not build, and removes
 * what the revision does not know. The method's row in `protocol/legacy/Methods` says what that is.
 */
import type { Outcome } from "@effect-mcp/jsonrpc/Outcome"
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Reply from "../runtime/Reply.js"
import type { Route } from "../runtime/Route.js"

/** Encodes one result; "Internal error" when it is not a result of the method. */
export type Encoder = (result: unknown) => Outcome

/** The encoder of a method and a revision. It is made once, and used for every message. */
export const make = (
  method: Method.Request,
  version: LegacyVersion,
  options: {
    /** Whether results are encoded without a check. */
    readonly isTrusted: boolean
    /** Whether the same object comes many times, so that its encoding is cached as long as the object lives. */
    readonly isStable: boolean
    readonly problem?: Route["problem"] | undefined
  }
): Encoder => {
  const compiled = method.narrowResult(version) as (result: {}) => {}
  const narrow = options.isStable ? cached(compiled) : compiled
  return options.isTrusted
    ? (value) => ({ result: narrow(value as {}) })
    : (value) => {
      const outcome = Reply.result(value, method, options.problem)
      if (outcome.result === undefined) return outcome
      const result = narrow(outcome.result)
      return outcome.flaw === undefined ? { result } : { result, flaw: outcome.flaw }
    }
}

const cached = (narrow: (result: {}) => {}): (result: {}) => {} => {
  const narrowed = new WeakMap<{}, {}>()
  return (result) => {
    let found = narrowed.get(result)
    if (found === undefined) narrowed.set(result, found = narrow(result))
    return found
  }
}
