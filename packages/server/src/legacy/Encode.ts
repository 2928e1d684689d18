/**
 * A result in the words of the peer's revision, after a look at those that are not of our own making. What has to be left
 * out for which revision is the business of `@effect-mcp/protocol/legacy/Narrow`.
 *
 * @since 0.1.0
 */
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
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
  return { result: (kept === true ? narrowOnce : narrow)(method, version, reply.result) }
}

const narrow = (method: Method.Request, version: LegacyVersion, result: {}): {} =>
  Narrow.compile(method.result, version)(result) as {}

const narrowed = new WeakMap<{}, Map<LegacyVersion, {}>>()

/** The same for a result that is given many times, and is as large as a list: worked out once for each revision. */
const narrowOnce = (method: Method.Request, version: LegacyVersion, result: {}): {} => {
  let versions = narrowed.get(result)
  if (versions === undefined) narrowed.set(result, versions = new Map())
  let told = versions.get(version)
  if (told === undefined) versions.set(version, told = narrow(method, version, result))
  return told
}
