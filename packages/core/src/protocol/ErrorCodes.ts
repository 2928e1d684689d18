/**
 * The codes of errors, of JSON-RPC and of MCP. For each error class of `McpError` the table has the code that is sent in each of the two
 * eras, legacy and modern (`Version` explains them). There are also codes of errors for which `McpError` has no class. `McpError` has the
 * meaning and the data of each error, and converts errors with this table.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 * @since 0.1.0
 */
import * as JsonRpcError from "../jsonrpc/JsonRpcError.js"

const jsonRpc = {
  ParseError: JsonRpcError.PARSE_ERROR,
  InvalidRequest: JsonRpcError.INVALID_REQUEST,
  MethodNotFound: JsonRpcError.METHOD_NOT_FOUND,
  InvalidParams: JsonRpcError.INVALID_PARAMS,
  InternalError: JsonRpcError.INTERNAL_ERROR
}

/**
 * The codes by era and by error class. Where an era has no code of its own for an error, the table has a code of JSON-RPC.
 *
 * @category constants
 */
export const codes = {
  legacy: {
    ...jsonRpc,
    ResourceNotFound: -32002,
    UrlElicitationRequired: -32042,
    UnsupportedVersion: JsonRpcError.INVALID_PARAMS,
    MissingClientCapability: JsonRpcError.INVALID_REQUEST,
    HeaderMismatch: JsonRpcError.INVALID_REQUEST
  },
  modern: {
    ...jsonRpc,
    // A modern server MUST NOT send -32002 or -32042.
    ResourceNotFound: JsonRpcError.INVALID_PARAMS,
    UrlElicitationRequired: JsonRpcError.INTERNAL_ERROR,
    UnsupportedVersion: -32022,
    MissingClientCapability: -32021,
    HeaderMismatch: -32020
  }
} as const

/**
 * Whether only modern servers send this code. A client that receives such a code knows that its server is modern.
 *
 * @category guards
 */
export const isModernOnly = (code: number): boolean =>
  code === codes.modern.HeaderMismatch || code === codes.modern.MissingClientCapability ||
  code === codes.modern.UnsupportedVersion

/**
 * The code with which a legacy client answers a sampling request that its user has rejected. The server receives this answer as a
 * `PeerError`.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 * @category constants
 */
export const USER_REJECTED = -1

/**
 * The code with which legacy servers refuse a request of a session that they do not know. The specification defines only the HTTP status;
 * the official servers send this code.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @category constants
 */
export const SESSION_NOT_FOUND = -32001

/**
 * The code of the response to a request that its client has cancelled, in the two cases where there must be a response: a legacy POST can
 * end only with a response, and a cancelled task has no result. The Language Server Protocol defines this code.
 *
 * @category constants
 */
export const REQUEST_CANCELLED = -32800
