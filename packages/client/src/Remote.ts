/**
 * Reaches a server by its URL: over Streamable HTTP of either era, and over HTTP+SSE when the server implements only that.
 * It uses the platform's `HttpClient`, whichever layer the application provides. `RemoteOptions` holds the options.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Url from "@effect/platform/Url"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as Settings from "./http/Settings.js"
import * as HttpTransport from "./negotiation/HttpTransport.js"
import type { Options } from "./RemoteOptions.js"

/**
 * Connects to the server at a URL, anew for each connection.
 *
 * Connecting sends nothing yet, except over HTTP+SSE; it fails with reason `Open` when the URL cannot be reached at all. A
 * request fails alone with a `TransportError` when the server refuses it, does not get it, or its answer is lost; the cause
 * is `HttpRefused` when there was a response. When the server has lost the session, the client begins a new one and sends
 * again what was refused for that reason; requests that the server had accepted fail with `SessionExpired`.
 *
 * Closing the scope aborts the requests in flight and ends the session; it takes at most three times `closeTimeout`.
 *
 * @category constructors
 */
export const connector = <R = never>(
  url: string | URL,
  options: Options<R> = {}
): Connector.Connector<HttpClient | Exclude<R, Scope.Scope>> => {
  const parsed = Either.getOrUndefined(Url.fromString(String(url)))
  const settings = Settings.fromOptions(options)
  const name = nameOf(parsed)
  return Connector.make<HttpClient | R | Scope.Scope>(
    name,
    Effect.flatMap(check(parsed, name), (url) => HttpTransport.open(url, settings)),
    { origin: parsed?.origin }
  ) as Connector.Connector<HttpClient | Exclude<R, Scope.Scope>>
}

const isHttp = ({ protocol }: URL): boolean => protocol === "http:" || protocol === "https:"

// The query may hold secrets, and a text that is no URL may be one.
const nameOf = (url: URL | undefined): string => {
  if (url === undefined) return "an invalid URL"
  return isHttp(url) ? `${url.origin}${url.pathname}` : `a URL of "${url.protocol}"`
}

const check = (url: URL | undefined, name: string): Effect.Effect<URL, TransportError> => {
  const refuse = (why: string) => Effect.fail(new TransportError({ reason: "Open", message: `${name}: ${why}` }))
  if (url === undefined || !isHttp(url)) {
    return refuse("begin it with http:// or https://, such as http://127.0.0.1:3000/mcp")
  }
  if (url.username !== "" || url.password !== "") return refuse("credentials belong into headers")
  return Effect.succeed(url)
}
