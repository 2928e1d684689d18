/**
 * How a server refuses a request over HTTP: with a status, with headers, and with a JSON-RPC error. An `Authenticator` fails with an
 * `HttpRefusal` to refuse a client; middleware and handlers may fail with it, too. On other transports, and when the HTTP response has
 * begun, the client gets only the error.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as JsonRpcError from "../jsonrpc/JsonRpcError.js"

/**
 * A request that is not served.
 *
 * @category errors
 */
export class HttpRefusal extends Data.TaggedError("HttpRefusal")<{
  /** From 400 to 599. */
  readonly status: number
  /** The headers by their names in lower case. A header that HTTP does not allow is never sent: the client gets status 500 instead. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** What the client reads in the body. It must not contain secrets. */
  readonly error: JsonRpcError.ErrorObject
}> {
  override get message(): string {
    return this.error.message
  }
}

/**
 * The error code in the refusals of this module. The specification names no code for them.
 *
 * @category constants
 */
export const CODE = -32000

/**
 * One challenge, or several: a server that accepts both `Bearer` and `DPoP`, for example, sends two challenges.
 *
 * @category models
 */
export type Challenges = string | ReadonlyArray<string>

/**
 * Status 401: the client has to authenticate in the way that a challenge names, for example `Bearer realm="mcp"`. `headers` are sent beside
 * the challenges, for example `dpop-nonce`.
 *
 * @category utils
 */
export const unauthorized = (
  challenges: Challenges,
  message: string = "Unauthorized: the request names no client that this server knows",
  headers?: Readonly<Record<string, string>>
): HttpRefusal =>
  new HttpRefusal({ status: 401, headers: { ...headers, ...authenticate(challenges) }, error: { code: CODE, message } })

/**
 * Status 403: this client may not do this. A challenge says what the client lacks, for example a scope of its token.
 *
 * @category utils
 */
export const forbidden = (
  message: string = "Forbidden: this client may not use the server",
  challenges?: Challenges
): HttpRefusal =>
  new HttpRefusal({
    status: 403,
    ...(challenges === undefined ? undefined : { headers: authenticate(challenges) }),
    error: { code: CODE, message }
  })

/**
 * Makes a challenge of `WWW-Authenticate`, with quoted values. Characters that a header cannot have become question marks, so a value may
 * come from a token or from a client.
 *
 * @example
 * ```ts
 * import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
 *
 * export const refusal = HttpRefusal.forbidden(
 *   "Forbidden: the token lacks the scope notes:write",
 *   HttpRefusal.challenge("Bearer", {
 *     error: "insufficient_scope",
 *     scope: "notes:write",
 *     resource_metadata: "https://mcp.example.com/.well-known/oauth-protected-resource"
 *   })
 * )
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#error-handling
 * @category utils
 */
export const challenge = (
  scheme: string,
  parameters: Readonly<Record<string, string | undefined>> = {}
): string => {
  const quoted = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`]
  )
  return quoted.length === 0 ? scheme : `${scheme} ${quoted.join(", ")}`
}

const authenticate = (challenges: Challenges): Readonly<Record<string, string>> => ({
  "www-authenticate": typeof challenges === "string" ? challenges : challenges.join(", ")
})
