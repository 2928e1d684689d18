/**
 * Checks the keys of `_meta` in a result that a handler of the application has returned, in a server (`server/runtime/HandlerOutcome`) or
 * in a client (`client/legacy/InboundHandlers`). This module leaves out each key that is not valid, and reports each key that the
 * application should not use. `MetaKey` has the rules.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Params } from "../../jsonrpc/Message.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import type { JsonObject } from "../Json.js"
import * as MetaKey from "./MetaKey.js"

/** Makes the outcome of a handler from its result. The outcome has the checked result, and has a `flaw` when a key is wrong. */
export const outcome = (result: Params): Outcome => {
  const meta = result._meta
  if (typeof meta !== "object" || meta === null) return { result }
  const flaw = MetaKey.flaw(meta as JsonObject)
  return flaw === undefined ? { result } : { result: { ...result, _meta: flaw.valid }, flaw: flaw.reason }
}
