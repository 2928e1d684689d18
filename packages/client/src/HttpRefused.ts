/**
 * An HTTP response that is no answer: which status, with which headers, and the beginning of what it says. Who calls finds it
 * as the `cause` of a `TransportError`, and can match on it.
 *
 * What it says of itself holds no secret of ours, whatever a server sends back.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Body from "./http/Body.js"
import * as MediaType from "./http/MediaType.js"

/**
 * How much of a refusal's body is kept, in bytes.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_BODY_BYTES = 64 * 1024

/** How much of it is quoted, in characters. */
const QUOTE = 200

/**
 * @since 0.1.0
 * @category errors
 */
export class HttpRefused extends Data.TaggedError("HttpRefused")<{
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly status: number
  /** By their names in lower case: `www-authenticate`, for one. Cookies and session ids are left out. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, as text; empty when there is none, or when it could not be read. */
  readonly body: string
}> {
  override get message(): string {
    const { method, status, url } = this
    // Whoever may not come in may be told what was wrong with a token, with the token in it.
    const said = status === 401 || status === 403 ? "" : quote(this)
    return `${method} ${url} was answered with ${status}${said === "" ? "" : `: ${said}`}`
  }
}

const quote = ({ body, headers }: Pick<HttpRefused, "body" | "headers">): string => {
  const type = MediaType.of(headers["content-type"])
  if (type !== "text/plain" && type !== MediaType.JSON) return ""
  const value = type === MediaType.JSON ? Json.parse(body) as { readonly error?: { readonly message?: unknown } } : null
  const text = typeof value?.error?.message === "string" ? value.error.message : body
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > QUOTE ? `${line.slice(0, QUOTE)}…` : line
}

/**
 * A text without what we told the server in confidence.
 *
 * @since 0.1.0
 * @category conversions
 */
export const redact = (text: string, sent: Headers.Headers): string => {
  let clean = text
  for (const [name, value] of Object.entries(sent)) {
    if (isPublic.has(name) || value.length < 8) continue
    for (const secret of [value, value.slice(value.indexOf(" ") + 1)]) {
      if (secret.length >= 8) clean = clean.replaceAll(secret, "[redacted]")
    }
  }
  return clean
}

const isPublic = new Set(["accept", "content-type", "content-length", "mcp-protocol-version", "user-agent"])

/**
 * Reads a response as a refusal, for at most a second.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromResponse = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<HttpRefused> =>
  Effect.map(Body.beginning(response, MAX_BODY_BYTES), (body) => {
    const { request, status } = response
    const { "mcp-session-id": _, "set-cookie": __, ...headers } = response.headers
    return new HttpRefused({
      method: request.method,
      url: request.url,
      status,
      headers,
      body: redact(body, request.headers)
    })
  })

/**
 * What a call fails with that was refused. A request that was refused as the client's mistake was not served; whether one
 * that broke the server was, nobody knows.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toError = (refused: HttpRefused): TransportError =>
  new TransportError({
    reason: refused.status < 500 ? "Write" : "Read",
    message: refused.message,
    cause: refused
  })
