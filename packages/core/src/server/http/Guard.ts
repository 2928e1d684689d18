/**
 * Checks the headers Host and Origin of a request, before all other checks. Without this check, a web page could use a browser to send
 * requests to a server on the user's machine (DNS rebinding). The module also makes the CORS headers. A browser requires these headers
 * before a page of another origin can use a server.
 *
 * The guard does not identify the sender; the `Authenticator` does this. `dispatch/Endpoint` makes the guard. `dispatch/Stages` calls the
 * guard for every request, except for the requests that `Health` answers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import type { HttpRefusal } from "../HttpRefusal.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

export interface Guard {
  /**
   * Gives the refusal of a request whose Host or Origin is not allowed; `undefined` when both are allowed. When the options name no hosts,
   * any host is allowed if the endpoint knows that the server listens on an address other than loopback.
   */
  readonly check: (headers: Headers, server?: Pick<HttpExchange, "isLocal">) => HttpRefusal | undefined
  /** Gives the CORS headers of the answer to a page; `undefined` for a request without the header Origin. */
  readonly cors: (headers: Headers) => Headers | undefined
  /** Gives the headers of the answer to a preflight request. */
  readonly preflight: (headers: Headers, allow: string) => Headers
}

/** The names of the loopback interface. Only programs on the same machine can reach a server on this interface. */
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
 * Gives the host of a request. Without a Host header, the URL decides. When the Host header names the loopback interface, a host name in
 * the URL replaces the header (RFC 9112, 3.2.2). In all other cases the Host header decides, because behind a proxy some platforms make the
 * URL from the address of their own listener.
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
      // HTTP/2 has the pseudo-header `:authority` in place of Host. A request may have both headers only when they agree (RFC 9113, 8.3.1).
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
        // The origin of the request. The value "*" would allow every page.
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

/** The CORS headers of an answer that the pages of every origin may read. With these headers, a page cannot send cookies. */
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
 * Gives the requested headers that repeat arguments of tools. The names of these headers depend on the tools, so there is no fixed list. A
 * name may contain every character that HTTP allows in the name of a header (RFC 9110, 5.6.2).
 */
const parameters = (requested: string | undefined): ReadonlyArray<string> =>
  requested === undefined || requested.length > MAX_REQUESTED
    ? []
    : requested.split(",").map((name) => name.trim()).filter((name) => /^mcp-param-[!#$%&'*+.^_`|~\w-]+$/i.test(name))

/** How many characters of the requested headers the guard reads. Node's HTTP server has the same limit for all headers together. */
const MAX_REQUESTED = 16_384

const ANY_PORT = ":*"

const matcher = (allowed: ReadonlyArray<string>): (value: string) => boolean => {
  // Commas join the values of a repeated field.
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
  // A client sends the same value with each request, so this function caches the last match.
  let last: string | undefined
  return (value) => {
    if (value === last) return true
    if (!matches(value)) return false
    last = value
    return true
  }
}
