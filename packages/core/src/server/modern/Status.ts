/**
 * The HTTP status of an error response, for `Http` and `Era`. `RequestState` takes its error for an overload from here. A request that the
 * server refuses before its handler runs gets the status of its error. An error of a handler is a response as any other, with status 200,
 * except for the errors that the specification gives status 400.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
import type { ErrorObject } from "../../jsonrpc/JsonRpcError.js"
import { codes } from "../../protocol/ErrorCodes.js"
import { InternalError } from "../../protocol/McpError.js"
import type { Refuses } from "../Authenticator.js"

/** The status of the response to a request that is refused. */
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

/** The data of the errors of requests that are refused because of a limit, or because a store is away. The client may send them again. */
const OVERLOADED: { readonly reason: "overloaded" } = { reason: "overloaded" }

/** The modern era has no code for this error: over HTTP the status says it. */
export const overloaded = (message: string): InternalError => new InternalError({ message, data: OVERLOADED })
