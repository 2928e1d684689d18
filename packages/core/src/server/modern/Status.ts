/**
 * The HTTP status of an error response, for `Http` and `Era`. A request that the server refuses before its handler runs gets the status
 * that belongs to its error. An error of a handler is an ordinary response with status 200, except for the errors for which the
 * specification demands status 400. `RequestState` uses `overloaded` for its errors.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
import type { ErrorObject } from "../../jsonrpc/JsonRpcError.js"
import { codes } from "../../protocol/ErrorCodes.js"
import { InternalError } from "../../protocol/McpError.js"
import type { Refuses } from "../Authenticator.js"

/** The status of the response to a request that was refused before its handler ran. */
export const of = (error: Refuses): number =>
  error._tag === "HttpRefusal"
    ? error.status
    : error._tag === "MethodNotFound"
    ? 404
    : error._tag === "InternalError" && error.data === OVERLOADED
    ? 503
    : 400

/** The status of the response to a request that was served. */
export const ofError = ({ code, data }: ErrorObject): number =>
  code === codes.modern.MissingClientCapability || code === codes.modern.HeaderMismatch
    ? 400
    : data === OVERLOADED
    ? 503
    : 200

/**
 * The data of the error of a request that is refused because of a limit, or because a store does not answer. The client may send the
 * request again.
 */
const OVERLOADED: { readonly reason: "overloaded" } = { reason: "overloaded" }

/** The error of an overload. The modern era has no code for it, so over HTTP the status tells of the overload. */
export const overloaded = (message: string): InternalError => new InternalError({ message, data: OVERLOADED })
