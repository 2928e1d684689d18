/**
 * A result in the words of the peer's revision, after a look at those that are not of our own making. What has to be left
 * out for which revision is known to the method itself.
 *
 * @since 0.1.0
 */
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Reply from "../runtime/Reply.js"
import type { Route } from "../runtime/Router.js"

/**
 * The answer that says it; "Internal error" when it is none of the method's results. `meddled`: whether it may be of
 * somebody else's making, whatever the route says.
 *
 * @since 0.1.0
 * @category conversions
 */
export const result = (
  value: unknown,
  { kept, method, trusted }: Route,
  version: LegacyVersion,
  meddled: boolean
): ReturnType<typeof Reply.result> => {
  const reply = trusted && !meddled ? { result: value as {} } : Reply.result(value, method)
  if (reply.result === undefined) return reply
  return {
    result: kept === true
      ? narrowOnce(method, version, reply.result)
      : method.narrowResult(version)(reply.result) as {}
  }
}

const narrowed = new WeakMap<{}, Map<LegacyVersion, {}>>()

/** The same for a result that is given many times, and is as large as a list: worked out once for each revision. */
const narrowOnce = (method: Method.Request, version: LegacyVersion, result: {}): {} => {
  let versions = narrowed.get(result)
  if (versions === undefined) narrowed.set(result, versions = new Map())
  let told = versions.get(version)
  if (told === undefined) versions.set(version, told = method.narrowResult(version)(result) as {})
  return told
}
