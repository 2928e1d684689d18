/**
 * The error codes of JSON-RPC and of MCP. For each error class of `McpError`, a table has the code in the legacy era (revisions up to
 * 2025-11-25) and the code in the modern era (revision 2026-07-28). This module also has codes of errors for which `McpError` has no class.
 * `McpError` has the meaning and the data of each error, and converts errors with this table.
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
 * The codes by era and by error class. If an era has no code for an error, the table has a JSON-RPC code instead.
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
 * Whether only modern servers send this code. A client that receives the code can conclude that its server is modern.
 *
 * @category guards
 */
export const isModernOnly = (code: number): boolean =>
  code === codes.modern.HeaderMismatch || code === codes.modern.MissingClientCapability ||
  code === codes.modern.UnsupportedVersion

/**
 * The code with which a legacy client answers a sampling request that its user has rejected. In the server, the request then fails with a
 * `PeerError`.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 * @category constants
 */
export const USER_REJECTED = -1

/**
 * The code with which legacy servers refuse a request when they do not know the session that the request names. The specification defines
 * only the HTTP status. The official servers send this code.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @category constants
 */
export const SESSION_NOT_FOUND = -32001

/**
 * The code of the response to a request that the client has cancelled. There are two cases in which a response is needed. A legacy POST can
 * end only with a response. A cancelled task has no result with which `tasks/result` could be answered. The Language Server Protocol
 * defines this code.
 *
 * @category constants
 */
export const REQUEST_CANCELLED = -32800
