/**
 * How an HTTP endpoint refuses a request: a status, headers, and a JSON-RPC error. The `authenticate` of `HttpOptions`
 * fails with one to refuse a client.
 *
 * @since 0.1.0
 */
import type * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Data from "effect/Data"

/** A request that is not served. */
export class HttpRefusal extends Data.TaggedError("HttpRefusal")<{
  readonly status: number
  /** By their names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** What the client reads in the body; it must hold no secret. */
  readonly error: JsonRpcError.ErrorObject
}> {
  override get message(): string {
    return this.error.message
  }
}

/** The error code in the refusals of this module. The specification names none. */
export const CODE = -32000

/** Status 401: the client has to authenticate, in the way that the challenge names (`Bearer realm="mcp"`). */
export const unauthorized = (
  challenge: string,
  message: string = "Unauthorized: the request names no client that this server knows"
): HttpRefusal =>
  new HttpRefusal({ status: 401, headers: { "www-authenticate": challenge }, error: { code: CODE, message } })

/** Status 403: this client may not use the endpoint. */
export const forbidden = (message: string = "Forbidden: this client may not use the server"): HttpRefusal =>
  new HttpRefusal({ status: 403, error: { code: CODE, message } })
