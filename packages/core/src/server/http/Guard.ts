/**
 * Checks the headers Host and Origin before anything else of a request is read. Without this check, a web page could use a browser to send
 * requests to a server on the user's machine (DNS rebinding). The module also makes the headers that a browser requires before it lets
 * pages of other origins use a server (CORS).
 *
 * The guard does not identify the sender: this is up to the `Authenticator`. `dispatch/Endpoint` makes the guard, and `dispatch/Stages`
 * calls it for every request, except for the requests that `Health` answers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import type { HttpRefusal } from "../HttpRefusal.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

export interface Guard {
  /**
   * The refusal of a request whose Host or Origin is not allowed; `undefined` when both are allowed. Any host is allowed when the options
   * name no hosts and the server is known to listen on an address that is not loopback.
   */
  readonly check: (headers: Headers, server?: Pick<HttpExchange, "isLocal">) => HttpRefusal | undefined
  /** The CORS headers of every answer to a page; `undefined` for a request without an Origin. */
  readonly cors: (headers: Headers) => Headers | undefined
  /** The headers of the answer to a preflight request. */
  readonly preflight: (headers: Headers, allow: string) => Headers
}

/** The names of the loopback interface. Only programs on the same machine reach a server there. */
export const loopbackHosts: ReadonlyArray<string> = ["localhost:*", "127.0.0.1:*", "[::1]:*"]

export const loopbackOrigins: ReadonlyArray<string> = loopbackHosts.flatMap((host) => [
  `http://${host}`,
  `https://${host}`
])

/** Whether only programs on the same machine can reach a server that listens on this address. */
export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || address === "[::1]" ||
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address)

/**
 * The host that a request is for. When the Host header names the loopback interface, the host of an absolute URI comes before it (RFC 9112,
 * 3.2.2). Before any other Host header it does not come, because behind a proxy some platforms make a URL from the name that they listen
 * on.
 */
export const hostOf = (url: string, header: string | undefined): string | undefined => {
  const host = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1]
  if (host === undefined || header === undefined) return header ?? host
  const isLocal = isLoopback(header.replace(/:\d*$/, ""))
  return isLocal && !/^(\d+(\.\d+){3}|\[.*\])(:\d*)?$/.test(host) ? host : header
}

/** The options of `WebHandler` that a guard reads. */
export interface Given {
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
}

export const make = (options: Given = {}): Guard => {
  const isHost = matcher(options.allowedHosts ?? loopbackHosts)
  const isAny = matcher(["*"])
  const isOpen = (host: string, server: Pick<HttpExchange, "isLocal"> | undefined): boolean =>
    options.allowedHosts === undefined && server?.isLocal === false && isAny(host)
  const isOrigin = matcher(options.allowedOrigins ?? loopbackOrigins)
  return {
    check: (headers, server) => {
      // HTTP/2 has the pseudo-header `:authority` in place of Host; a request may have both only when they agree (RFC 9113, 8.3.1).
      const authority = headers[":authority"]
      const host = headers.host ?? authority
      const agree = authority === undefined || host?.toLowerCase() === authority.toLowerCase()
      if (host === undefined || !agree || !(isHost(host) || isOpen(host, server))) {
        return Refusal.forbidden("Host", host)
      }
      const { origin } = headers
      // MUST answer 403 to an Origin that is present and invalid (2025-11-25 basic/transports#security-warning)
      return origin === undefined || isOrigin(origin) ? undefined : Refusal.forbidden("Origin", origin)
    },
    cors: ({ origin }) =>
      origin === undefined ? undefined : {
        // The origin of the request, never "*", which would allow every page.
        "access-control-allow-origin": origin,
        "access-control-expose-headers": EXPOSED,
        vary: "Origin"
      },
    preflight: (headers, allow) => ({
      "access-control-allow-methods": allow,
      "access-control-allow-headers": [...ALLOWED, ...parameters(headers["access-control-request-headers"])].join(", "),
      "access-control-max-age": "600",
      ...(headers["access-control-request-private-network"] === "true"
        ? { "access-control-allow-private-network": "true" }
        : undefined),
      allow
    })
  }
}

/** The CORS headers of an answer that the pages of every origin may read. A page may not send cookies with such a request. */
export const anyOrigin: Headers = { "access-control-allow-origin": "*" }

const EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After"

const ALLOWED = [
  "Accept",
  "Authorization",
  "b3",
  "baggage",
  "Content-Type",
  "DPoP",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "MCP-Protocol-Version",
  "Mcp-Session-Id",
  "traceparent",
  "tracestate"
]

/**
 * The requested headers that repeat parameters of tools. Their names depend on the tools, so there is no fixed list. A name may have every
 * character that HTTP allows in the name of a header (RFC 9110, 5.6.2).
 */
const parameters = (requested: string | undefined): ReadonlyArray<string> =>
  requested === undefined || requested.length > MAX_REQUESTED
    ? []
    : requested.split(",").map((name) => name.trim()).filter((name) => /^mcp-param-[!#$%&'*+.^_`|~\w-]+$/i.test(name))

/** How many characters of requested headers are read: as many as Node's HTTP server accepts for all headers together. */
const MAX_REQUESTED = 16_384

const ANY_PORT = ":*"

const matcher = (allowed: ReadonlyArray<string>): (value: string) => boolean => {
  // When a field was repeated, its values are joined by a comma.
  if (allowed.includes("*")) return (value) => !value.includes(",")
  const exact = new Set<string>()
  const anyPort = new Set<string>()
  for (const value of allowed.map((one) => one.toLowerCase())) {
    if (value.endsWith(ANY_PORT)) anyPort.add(value.slice(0, -ANY_PORT.length))
    else exact.add(value)
  }
  const matches = (value: string): boolean => {
    const given = value.toLowerCase()
    return exact.has(given) || anyPort.has(given.replace(/:\d{1,5}$/, ""))
  }
  // A client sends the same value with each request, so the last match is kept.
  let last: string | undefined
  return (value) => {
    if (value === last) return true
    if (!matches(value)) return false
    last = value
    return true
  }
}
