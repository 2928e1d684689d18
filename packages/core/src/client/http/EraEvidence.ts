/**
 * What the failure of an HTTP request shows about the era of its server, and whether another request may succeed. `negotiation/Plan`,
 * `negotiation/Probe` and `legacy/Connect` ask this module, whatever the transport is, so the module loads no HTTP client. `modern/Http`
 * and `negotiation/HttpTransport` ask about the responses that they get.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import type { CallError } from "../../jsonrpc/Outbound.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { HttpResponseError } from "../HttpResponseError.js"
import * as PlatformError from "./PlatformError.js"

/**
 * Whether the server may have refused the request because it does not know such requests. A server that wants a login, or has no time
 * or no capacity, refuses a request of either era.
 */
export const showsEra = ({ status }: HttpResponseError): boolean =>
  status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status)

/** Whether the cause of a failure is a refusal that only a login can change. */
export const asksForLogin = (cause: unknown): boolean =>
  cause instanceof HttpResponseError && (cause.status === 401 || cause.status === 403) &&
  cause.headers["www-authenticate"] !== undefined

/** Whether every request to the server would fail in this way: a login is needed, or the request was not sent. */
export const isFinal = (error: TransportError): boolean =>
  error.cause instanceof HttpResponseError ? asksForLogin(error.cause) : error.reason !== "Read" && !isHidden(error)

/**
 * Whether a server may accept the same request a little later: it allows fewer requests in a time, and does not say when it accepts the
 * next request. Some servers answer with 403 then.
 */
export const mayPass = (error: { readonly _tag: string; readonly cause?: unknown }): boolean =>
  error._tag === "TransportError" && error.cause instanceof HttpResponseError &&
  (error.cause.status === 403 || error.cause.status === 429) && !asksForLogin(error.cause) &&
  error.cause.headers["retry-after"] === undefined

/** The longest wait that a server may ask for before a client has a session. */
const MAX_WAIT = Duration.seconds(30)

/** Sends a request, and sends it once more when the server asks for that with `Retry-After`. */
export const patiently = <A>(request: Effect.Effect<A, CallError>): Effect.Effect<A, CallError> =>
  Effect.catchAll(request, (error) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const wait = waitOf(error, EffectInternals.millis(clock))
      return wait === undefined || Duration.greaterThan(wait, MAX_WAIT)
        ? Effect.fail(error)
        : Effect.zipRight(Effect.sleep(wait), request)
    }))

/** A number of seconds, or a date. */
const waitOf = (error: CallError, now: number): Duration.Duration | undefined => {
  const refused = error._tag === "TransportError" ? error.cause : undefined
  if (!(refused instanceof HttpResponseError) || (refused.status !== 429 && refused.status !== 503)) return undefined
  const given = refused.headers["retry-after"] ?? ""
  const millis = /^\d+$/.test(given) ? 1000 * Number(given) : Date.parse(given) - now
  return Number.isNaN(millis) ? undefined : Duration.millis(millis)
}

/** Whether a server refused the request as one that it does not know. */
export const isOfOtherEra = (error: CallError): boolean =>
  error._tag === "TransportError" && error.cause instanceof HttpResponseError && showsEra(error.cause)

/**
 * Whether a browser may have hidden a refusal: legacy servers do not allow the headers of a modern request, and a browser
 * reports that as if the server could not be reached.
 */
export const isHidden = (error: CallError): boolean =>
  "document" in globalThis && error._tag === "TransportError" && PlatformError.isConnectionLost(error.cause)
