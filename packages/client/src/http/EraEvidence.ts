/**
 * What the failure of an HTTP request shows about the era of its server. It loads no HTTP client, because `Negotiation` uses it
 * for every transport.
 */
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import { HttpRefused } from "../HttpRefused.js"

/**
 * Whether the server may have refused the request because it does not know such requests. A server that wants a login, or has no time
 * or no capacity, refuses a request of either era.
 */
export const showsEra = ({ status }: HttpRefused): boolean =>
  status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status)

/** Whether a server refused the request as one that it does not know. */
export const isOfOtherEra = (error: CallError): boolean =>
  error._tag === "TransportError" && error.cause instanceof HttpRefused && showsEra(error.cause)

/**
 * Whether a browser may have hidden a refusal: legacy servers do not allow the headers of a modern request, and a browser
 * reports that as if the server could not be reached.
 */
export const isHidden = (error: CallError): boolean => {
  if (!("document" in globalThis) || error._tag !== "TransportError") return false
  const cause = error.cause as { readonly _tag?: unknown; readonly reason?: unknown } | undefined
  return cause?._tag === "RequestError" && cause.reason === "Transport"
}
