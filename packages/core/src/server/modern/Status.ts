/**
 * Gives the HTTP status of an error response with revision 2026-07-28, for `Http` and `Era`. When the server refuses a request before the
 * handler runs, the kind of the error decides the status. When a handler fails, the response has status 200, with two exceptions. For some
 * errors, the specification demands status 400. An error from `overloaded` has status 503. `RequestState` makes its errors with
 * `overloaded`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
import type { ErrorObject } from "../../jsonrpc/JsonRpcError.js"
import { codes } from "../../protocol/ErrorCodes.js"
import { InternalError } from "../../protocol/McpError.js"
import type { Refuses } from "../Authenticator.js"

/** Gives the status of the response to a request that the server has refused before the handler ran. */
export const of = (error: Refuses): number =>
  error._tag === "HttpRefusal"
    ? error.status
    : error._tag === "MethodNotFound"
    ? 404
    : error._tag === "InternalError" && error.data === OVERLOADED
    ? 503
    : 400

/** Gives the status of an error response after the handler ran. */
export const ofError = ({ code, data }: ErrorObject): number =>
  code === codes.modern.MissingClientCapability || code === codes.modern.HeaderMismatch
    ? 400
    : data === OVERLOADED
    ? 503
    : 200

/**
 * The `data` of an error that refuses a request because of a limit, or because a store does not answer. The client may send the request
 * again.
 */
const OVERLOADED: { readonly reason: "overloaded" } = { reason: "overloaded" }

/** Makes the error of an overload. Revision 2026-07-28 has no error code for this, so over HTTP only the status shows the overload. */
export const overloaded = (message: string): InternalError => new InternalError({ message, data: OVERLOADED })
