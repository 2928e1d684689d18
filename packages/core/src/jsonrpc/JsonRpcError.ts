/**
 * The error object of a JSON-RPC response, and the error codes of JSON-RPC. `protocol/ErrorCodes` has the codes of MCP, and
 * `protocol/McpError` has the errors of MCP. `LocalError` has the failures without a response from the peer.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * Invalid JSON was received.
 *
 * @category constants
 */
export const PARSE_ERROR = -32700

/**
 * The JSON is not a request.
 *
 * @category constants
 */
export const INVALID_REQUEST = -32600

/**
 * The method does not exist or is not available.
 *
 * @category constants
 */
export const METHOD_NOT_FOUND = -32601

/**
 * The parameters are invalid.
 *
 * @category constants
 */
export const INVALID_PARAMS = -32602

/**
 * The receiver failed, and the request is not the reason.
 *
 * @category constants
 */
export const INTERNAL_ERROR = -32603

/**
 * The receiver is closing, or it already handles as many requests as its limit allows.
 *
 * @category constants
 */
export const UNAVAILABLE = -32000

/**
 * The `error` member of a response.
 *
 * @category models
 */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The error of a response. When a handler fails with this error, the peer gets the error as the answer. When the peer answers a request
 * with an error, the call fails with this error.
 *
 * @category errors
 */
export class JsonRpcError extends Data.TaggedError("JsonRpcError")<ErrorObject> {}

/**
 * Returns the error object for a response. The object has `data` only when the error has `data`.
 *
 * @category utils
 */
export const toObject = (error: ErrorObject): ErrorObject =>
  error.data === undefined
    ? { code: error.code, message: error.message }
    : { code: error.code, message: error.message, data: error.data }

/**
 * The error object for a request that failed for a reason that the peer must not see.
 *
 * @category constants
 */
export const internal: ErrorObject = { code: INTERNAL_ERROR, message: "Internal error" }
