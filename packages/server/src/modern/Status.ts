/**
 * The HTTP status of an error response. A request that the server refuses before its handler runs gets the status of its
 * error. An error of a handler is a response as any other, with status 200, except for the errors that the specification gives status 400.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
import type { ErrorObject } from "@effect-mcp/jsonrpc/JsonRpcError"
import { codes } from "@effect-mcp/protocol/ErrorCodes"
import type { Refuses } from "../Authenticator.js"
import * as Overload from "./Overload.js"

/** The status of the response to a request that is refused. */
export const of = (error: Refuses): number =>
  error._tag === "HttpRefusal"
    ? error.status
    : error._tag === "MethodNotFound"
    ? 404
    : error._tag === "InternalError" && error.data === Overload.data
    ? 503
    : 400

/** The status of the response to a request that was served. */
export const ofError = ({ code, data }: ErrorObject): number =>
  code === codes.modern.MissingClientCapability || code === codes.modern.HeaderMismatch
    ? 400
    : data === Overload.data
    ? 503
    : 200
