/**
 * A failure with which the application refuses a request over HTTP. An `HttpRefusal` contains a status, headers and a JSON-RPC error. An
 * authenticator, middleware and handlers may fail with an `HttpRefusal`. On other transports, and when the HTTP response has already begun,
 * the client gets only the JSON-RPC error.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as JsonRpcError from "../jsonrpc/JsonRpcError.js"

/**
 * Refuses a request with an HTTP status, headers and a JSON-RPC error.
 *
 * @category errors
 */
export class HttpRefusal extends Data.TaggedError("HttpRefusal")<{
  /** From 400 to 599. */
  readonly status: number
  /** The headers by their names in lower case. When HTTP does not allow one of the headers, the server answers with status 500 instead. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** The JSON-RPC error that the client gets. This error must not contain secrets. */
  readonly error: JsonRpcError.ErrorObject
}> {
  override get message(): string {
    return this.error.message
  }
}

/**
 * The JSON-RPC error code in the refusals of this module. The specification defines no code for refusals.
 *
 * @category constants
 */
export const CODE = -32000

/**
 * One challenge, or several challenges. For example, a server that accepts both `Bearer` and `DPoP` sends two challenges.
 *
 * @category models
 */
export type Challenges = string | ReadonlyArray<string>

/**
 * Makes a refusal with status 401. The client must authenticate in the way that a challenge names, for example `Bearer realm="mcp"`.
 * `headers` are other headers of the response, for example `dpop-nonce`.
 *
 * @category utils
 */
export const unauthorized = (
  challenges: Challenges,
  message: string = "Unauthorized: the request does not identify a client of this server",
  headers?: Readonly<Record<string, string>>
): HttpRefusal =>
  new HttpRefusal({ status: 401, headers: { ...headers, ...authenticate(challenges) }, error: { code: CODE, message } })

/**
 * Makes a refusal with status 403: the client is not allowed to send this request. A challenge says what the client needs, for example a
 * scope of its token.
 *
 * @category utils
 */
export const forbidden = (
  message: string = "Forbidden: this client is not allowed to use the server",
  challenges?: Challenges
): HttpRefusal =>
  new HttpRefusal({
    status: 403,
    ...(challenges === undefined ? undefined : { headers: authenticate(challenges) }),
    error: { code: CODE, message }
  })

/**
 * Makes a challenge for the header `WWW-Authenticate`, with quoted values. Replaces characters that a header cannot contain by question
 * marks. So you can use values from a token or from a client.
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
