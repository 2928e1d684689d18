/**
 * The error object of JSON-RPC: a code, a message and optional data, as they cross the wire.
 *
 * This room knows the five standard codes and nothing of MCP; what the codes of the protocol mean is said in
 * `@effect-mcp/protocol/McpError`. Failures that never crossed a wire are not here: see `Outbound` and `Transport`.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * Invalid JSON was received.
 *
 * @since 0.1.0
 * @category codes
 */
export const PARSE_ERROR = -32700

/**
 * The JSON is not a request.
 *
 * @since 0.1.0
 * @category codes
 */
export const INVALID_REQUEST = -32600

/**
 * The method does not exist or is not available.
 *
 * @since 0.1.0
 * @category codes
 */
export const METHOD_NOT_FOUND = -32601

/**
 * The parameters are invalid.
 *
 * @since 0.1.0
 * @category codes
 */
export const INVALID_PARAMS = -32602

/**
 * The receiver failed in a way that is not the sender's fault.
 *
 * @since 0.1.0
 * @category codes
 */
export const INTERNAL_ERROR = -32603

/**
 * The receiver cannot serve the request now: it is closing, or too many requests are in flight.
 *
 * @since 0.1.0
 * @category codes
 */
export const UNAVAILABLE = -32000

/**
 * The `error` member of a response.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * An error that crosses the wire: what a handler fails with to answer with an error, and what a caller fails with
 * when the peer answered with one.
 *
 * @since 0.1.0
 * @category models
 */
export class JsonRpcError extends Data.TaggedError("JsonRpcError")<ErrorObject> {}

/**
 * The wire form of an error; `data` is left out when there is none.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toObject = (error: ErrorObject): ErrorObject =>
  error.data === undefined
    ? { code: error.code, message: error.message }
    : { code: error.code, message: error.message, data: error.data }

/**
 * What the wire says of a failure whose reason concerns the operator only.
 *
 * @since 0.1.0
 * @category constructors
 */
export const internal: ErrorObject = { code: INTERNAL_ERROR, message: "Internal error" }
