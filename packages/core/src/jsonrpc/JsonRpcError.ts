/**
 * The error object of a JSON-RPC response, and the error codes that JSON-RPC defines or that its users have agreed on.
 * `protocol/ErrorCodes` has the codes of MCP, `protocol/McpError` has the errors of MCP. `LocalError` has the failures on this side, for
 * which there is no response.
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
 * The receiver failed for a reason that is not in the request.
 *
 * @category constants
 */
export const INTERNAL_ERROR = -32603

/**
 * The receiver is closing, or too many requests are in flight.
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
 * An error in a response. A handler fails with this error, and the peer gets it as the answer. A call fails with this error when the peer
 * has answered with it.
 *
 * @category errors
 */
export class JsonRpcError extends Data.TaggedError("JsonRpcError")<ErrorObject> {}

/**
 * The error object for a response. It has `data` only when the error has `data`.
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
