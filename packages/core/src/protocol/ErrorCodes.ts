/**
 * The numbers of errors, of JSON-RPC and of MCP: for each error class of `McpError` the code that each era sends, and the codes of errors
 * for which `McpError` has no class. `McpError` has the meaning and the data of each error, and converts errors with this table.
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
 * An era that has no code of its own for an error uses a code of JSON-RPC.
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
    // MUST NOT send -32002 or -32042.
    ResourceNotFound: JsonRpcError.INVALID_PARAMS,
    UrlElicitationRequired: JsonRpcError.INTERNAL_ERROR,
    UnsupportedVersion: -32022,
    MissingClientCapability: -32021,
    HeaderMismatch: -32020
  }
} as const

/**
 * Whether only modern servers send this code. A client that receives the code knows the era of its server.
 *
 * @category guards
 */
export const isModernOnly = (code: number): boolean =>
  code === codes.modern.HeaderMismatch || code === codes.modern.MissingClientCapability ||
  code === codes.modern.UnsupportedVersion

/**
 * The code with which a legacy client answers a sampling request that its user rejected. The server receives it as a
 * `PeerError`.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 * @category constants
 */
export const USER_REJECTED = -1

/**
 * The code with which servers of the legacy era refuse a request of a session that they do not know. The specification names the HTTP
 * status only; the official servers send this code.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @category constants
 */
export const SESSION_NOT_FOUND = -32001

/**
 * The code of the response to a request that its client has cancelled, where there must be a response: a legacy POST can
 * only end with a response, and a cancelled task has no result. The Language Server Protocol defines the code.
 *
 * @category constants
 */
export const REQUEST_CANCELLED = -32800
