/**
 * Decides what the failure of an HTTP request shows about the protocol era of its server, and whether another request may succeed.
 * Revisions up to 2025-11-25 are legacy, revision 2026-07-28 is modern. `negotiation/Plan`, `negotiation/Probe` and `legacy/Connect` call
 * these functions for every transport, so this module does not load an HTTP client. `modern/Http` and `negotiation/HttpTransport` call them
 * for the responses that they get.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import type { CallError } from "../../jsonrpc/Outbound.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { HttpResponseError } from "../HttpResponseError.js"
import * as PlatformError from "./PlatformError.js"

/**
 * Whether the server may have refused the request because it does not support requests of this era. A server that wants a login, or that
 * has no time or capacity, refuses requests of both eras.
 */
export const showsEra = ({ status }: HttpResponseError): boolean =>
  status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status)

/** Whether the cause of a failure is a refusal that only a login can change. */
export const asksForLogin = (cause: unknown): boolean =>
  cause instanceof HttpResponseError && (cause.status === 401 || cause.status === 403) &&
  cause.headers["www-authenticate"] !== undefined

/** Whether every request to the server would fail in the same way, because a login is needed or because the server cannot be reached. */
export const isFinal = (error: TransportError): boolean =>
  error.cause instanceof HttpResponseError ? asksForLogin(error.cause) : error.reason !== "Read" && !isHidden(error)

/**
 * Whether a server may accept the same request a little later. This is the case when the server limits the number of requests, and does not
 * say when it will accept the next request. Some servers answer with status 403 in this case.
 */
export const mayPass = (error: { readonly _tag: string; readonly cause?: unknown }): boolean =>
  error._tag === "TransportError" && error.cause instanceof HttpResponseError &&
  (error.cause.status === 403 || error.cause.status === 429) && !asksForLogin(error.cause) &&
  error.cause.headers["retry-after"] === undefined

/** The longest wait that a server can ask for with `Retry-After`, for a client that has no session yet. */
const MAX_WAIT = Duration.seconds(30)

/** Sends a request. When the server asks to wait with `Retry-After`, waits, and sends the request once more. */
export const patiently = <A>(request: Effect.Effect<A, CallError>): Effect.Effect<A, CallError> =>
  Effect.catchAll(request, (error) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const wait = waitOf(error, EffectInternals.millis(clock))
      return wait === undefined || Duration.greaterThan(wait, MAX_WAIT)
        ? Effect.fail(error)
        : Effect.zipRight(Effect.sleep(wait), request)
    }))

/**
 * Returns how long to wait before the next attempt. `Retry-After` has a number of seconds or a date. Returns `undefined` when the server
 * does not ask to wait.
 */
const waitOf = (error: CallError, now: number): Duration.Duration | undefined => {
  const refused = error._tag === "TransportError" ? error.cause : undefined
  if (!(refused instanceof HttpResponseError) || (refused.status !== 429 && refused.status !== 503)) return undefined
  const given = refused.headers["retry-after"] ?? ""
  const millis = /^\d+$/.test(given) ? 1000 * Number(given) : Date.parse(given) - now
  return Number.isNaN(millis) ? undefined : Duration.millis(millis)
}

/** Whether a server has refused the request because the request belongs to an era that the server does not support. */
export const isOfOtherEra = (error: CallError): boolean =>
  error._tag === "TransportError" && error.cause instanceof HttpResponseError && showsEra(error.cause)

/**
 * Whether a browser may have hidden the refusal of a server. Legacy servers do not allow the headers of a modern request, and a browser
 * reports this as if the server could not be reached.
 */
export const isHidden = (error: CallError): boolean =>
  "document" in globalThis && error._tag === "TransportError" && PlatformError.isConnectionLost(error.cause)
