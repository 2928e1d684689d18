/**
 * How a server refuses a request over HTTP: a status, headers, and a JSON-RPC error. An `Authenticator` fails with an `HttpRefusal` to
 * refuse a client, and so may middleware and handlers. Other transports send the error alone, and so does an HTTP response that has begun.
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
  /** By their names in lower case. A value that HTTP does not allow is not sent: then the client gets 500. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** What the client reads in the body; it must hold no secret. */
  readonly error: JsonRpcError.ErrorObject
}> {
  override get message(): string {
    return this.error.message
  }
}

/**
 * The error code in the refusals of this module. The specification names none.
 *
 * @category constants
 */
export const CODE = -32000

/**
 * One challenge or several: for example, a server that accepts both `Bearer` and `DPoP` sends two.
 *
 * @category models
 */
export type Challenges = string | ReadonlyArray<string>

/**
 * Status 401: the client has to authenticate, in the way that a challenge names (`Bearer realm="mcp"`). `headers` are sent
 * beside it, for example `dpop-nonce`.
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
 * A challenge of `WWW-Authenticate`, with quoted values. Characters that a header cannot have become question marks, so a
 * value may come from a token or from a client.
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
