/**
 * Who may come in by way of a browser: Host and Origin are looked at before anything else of a request, so that no web page
 * can make its visitor's browser talk to a server on the visitor's machine. And what browsers are told in return (CORS).
 *
 * It knows no principal: who somebody is, and not where from, is the business of `authenticate`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 * @since 0.1.0
 */
import type { Headers } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Values of the Host header that are let in: "mcp.example.com", "localhost:3000", "localhost:*" for any port and none,
   * "*" for any. Default: those of the loopback interface, with any port.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * Values of the Origin header that are let in: "https://app.example.com", "http://localhost:*", "*" for any. Who sends
   * none is no browser, or no other page's, and is let in. Default: those of the loopback interface, with any port.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Guard {
  /** Gives how to turn the request away, unless it may come in. */
  readonly check: (headers: Headers) => Refusal.Refusal | undefined
  /** What a page is told with every answer; nothing when no page asks. */
  readonly cors: (headers: Headers) => Headers | undefined
  /** The answer to a browser that asks what it may ask. */
  readonly preflight: (headers: Headers, allow: string) => Headers
}

/**
 * Hosts that only programs on the same machine can mean.
 *
 * @since 0.1.0
 * @category constants
 */
export const loopbackHosts: ReadonlyArray<string> = ["localhost:*", "127.0.0.1:*", "[::1]:*"]

/**
 * @since 0.1.0
 * @category constants
 */
export const loopbackOrigins: ReadonlyArray<string> = loopbackHosts.flatMap((host) => [
  `http://${host}`,
  `https://${host}`
])

/**
 * Whether who binds to this address can be reached from the same machine only.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || address === "[::1]" ||
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address)

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Guard => {
  const isHost = matcher(options.allowedHosts ?? loopbackHosts)
  const isOrigin = matcher(options.allowedOrigins ?? loopbackOrigins)
  return {
    check: (headers) => {
      // What HTTP/2 has instead.
      const host = headers.host ?? headers[":authority"]
      if (host === undefined || !isHost(host)) return Refusal.forbidden("Host", host)
      const { origin } = headers
      // MUST answer 403 to an Origin that is present and invalid (2025-11-25 basic/transports#security-warning)
      return origin === undefined || isOrigin(origin) ? undefined : Refusal.forbidden("Origin", origin)
    },
    cors: ({ origin }) =>
      origin === undefined ? undefined : {
        // Never "*", which would go for pages that nobody has named.
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

const EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

const ALLOWED = [
  "Accept",
  "Authorization",
  "Content-Type",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "MCP-Protocol-Version",
  "Mcp-Session-Id"
]

/** Headers that are named after parameters of tools, of which there is no list. */
const parameters = (asked: string | undefined): ReadonlyArray<string> =>
  asked === undefined || asked.length > 1000
    ? []
    : asked.split(",").map((name) => name.trim()).filter((name) => /^mcp-param-[a-z0-9-]+$/i.test(name))

const ANY_PORT = ":*"

const matcher = (allowed: ReadonlyArray<string>): (value: string) => boolean => {
  if (allowed.includes("*")) return () => true
  const exact = new Set<string>()
  const anyPort = new Set<string>()
  for (const one of allowed) {
    const value = one.toLowerCase()
    if (value.endsWith(ANY_PORT)) anyPort.add(value.slice(0, -ANY_PORT.length))
    else exact.add(value)
  }
  const matches = (value: string): boolean => {
    const given = value.toLowerCase()
    return exact.has(given) || anyPort.has(given.replace(/:\d{1,5}$/, ""))
  }
  // Clients say the same in each request.
  let last: string | undefined
  return (value) => {
    if (value === last) return true
    if (!matches(value)) return false
    last = value
    return true
  }
}
