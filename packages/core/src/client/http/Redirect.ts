/**
 * Decides where a redirect leads, and whether a request may follow it: only to the same origin, and only with the same method. Also decides
 * whether a client may remember the target. `HttpSender` follows redirects of MCP servers, and `Documents` of package `auth` follows
 * redirects of metadata documents.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Url from "@effect/platform/Url"
import * as Either from "effect/Either"

/** Returns the target of a redirect, or a text with the reason why a client must not follow the redirect. */
export const targetOf = ({ headers, request, status }: HttpClientResponse.HttpClientResponse): URL | string => {
  // In a browser, the response of a redirect has status 0.
  if (status === 0) return "the platform hides its target"
  const keepsMethod = status === 307 || status === 308 ||
    (request.method === "GET" && (status === 301 || status === 302 || status === 303))
  if (!keepsMethod) return `a redirect with status ${status} does not keep the method ${request.method}`
  const { location } = headers
  if (location === undefined) return "it names no target"
  const target = Either.getOrUndefined(Url.fromString(location, request.url))
  if (target === undefined) return "its target is not a URL"
  // The headers and the body of the request are only for this origin.
  if (target.origin !== new URL(request.url).origin) return `"${target.origin}" is another origin`
  return target.username === "" && target.password === "" ? target : "its target contains credentials"
}

/**
 * Whether a redirect applies to later requests of the same method. The resource must have "a new permanent URI" (RFC 9110, 15.4.2 and
 * 15.4.9), and the server must not forbid to store the response (RFC 9111, 5.2.2).
 */
export const isPermanent = ({ headers, status }: HttpClientResponse.HttpClientResponse): boolean =>
  (status === 301 || status === 308) && !/\bno-(?:store|cache)\b/i.test(headers["cache-control"] ?? "")
