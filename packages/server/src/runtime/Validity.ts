/**
 * For how long the user of an HTTP request may be believed. `Authentication` gives each search for a user a place for the answer,
 * `Authenticator.validFor` fills the place, and this module ends the streams of the request when the answer no longer holds.
 */
import type { Deadlines } from "@effect-mcp/jsonrpc/unstable/kit/Deadlines"
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import type { Caller, Found } from "../Authenticator.js"
import * as HttpRefusal from "../http/Refusal.js"
import type { Authenticate } from "./Authentication.js"
import * as Permission from "./Permission.js"

/** The place for the answer, in milliseconds; none outside of HTTP. */
export class Validity extends Context.Reference<Validity>()("@effect-mcp/server/Authenticator/Validity", {
  defaultValue: (): { life: number; recheckAfter: number } | undefined => undefined
}) {}

/** Calls back once when the user is no longer valid, unless the function that it returns is called before. */
export type Watch = (onEnd: () => void) => () => void

/** Watches the user of a request from now on; `undefined` when nothing was said of how long the user may be believed. */
export const watch = (
  authenticate: Authenticate,
  caller: Extract<Caller, { readonly _tag: "Http" }>,
  { validity }: Found,
  sweeper: Deadlines
): Watch | undefined => {
  if (validity === undefined) return undefined
  const again: Caller = { ...caller, request: { ...caller.request, isForwarded: true } }
  const found = sweeper.now()
  return (onEnd) => {
    let end = found + validity.life
    let stop = () => {}

    const wait = (recheckAt: number): void => {
      const isLast = end <= recheckAt
      const scheduled = sweeper.schedule(Math.min(end, recheckAt) - sweeper.now(), isLast ? onEnd : recheck)
      stop = () => void sweeper.unwatch(scheduled)
    }

    const recheck = (): void => {
      let isWaiting = true
      const interrupt = authenticate(again, (next) => {
        isWaiting = false
        const now = sweeper.now()
        if (isRefused(next)) return onEnd()
        const { life, recheckAfter } = Either.getOrUndefined(next)?.validity ?? { ...validity, life: Infinity }
        end = Math.min(end, now + life)
        wait(now + recheckAfter)
      })
      if (isWaiting) stop = interrupt
    }

    wait(found + validity.recheckAfter)
    return () => stop()
  }
}

/** A server that cannot tell at the moment, or is busy, does not end the stream. */
const isRefused = (found: Parameters<Parameters<Authenticate>[1]>[0]): boolean => {
  const refused = Either.isLeft(found) ? found.left : Permission.refusal(found.right.user, [])
  if (refused === undefined) return false
  const { status } = HttpRefusal.of(refused, "modern")
  return status < 500 && status !== 429
}
