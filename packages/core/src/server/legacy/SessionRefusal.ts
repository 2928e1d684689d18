/**
 * The refusals of legacy HTTP requests (revisions up to 2025-11-25): about sessions and their streams (for `Http`, `Sse` and `Standalone`),
 * and about the revision of a request (for `Initialize`). `http/Refusal` contains all other refusals, and `send`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import { SESSION_NOT_FOUND } from "../../protocol/ErrorCodes.js"
import { badRequest, make } from "../http/Refusal.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import { quotable } from "../runtime/HandlerName.js"

export const noSession: HttpRefusal = badRequest(
  "the Mcp-Session-Id header is missing; the response to initialize contains it"
)

/** One refusal for three cases: an unknown session id, a session that has ended, and a session of another principal. */
export const unknownSession: HttpRefusal = make(
  404,
  SESSION_NOT_FOUND,
  "Session not found: it has ended or never existed; begin a new session with initialize, without Mcp-Session-Id"
)

export const noSseSession: HttpRefusal = badRequest(
  "the query must name a \"sessionId\"; the first event of the stream does"
)

/** The refusal of an unknown session for HTTP+SSE, where each stream is a session. */
export const unknownSseSession: HttpRefusal = make(
  404,
  SESSION_NOT_FOUND,
  "Session not found: its stream has ended or never existed; open a new stream with GET"
)

/** Makes the refusal of a revision. Other SDKs search for the first three words of this message. */
export const unsupportedVersion = (version: string, supported: ReadonlyArray<string>): HttpRefusal =>
  badRequest(`Unsupported protocol version: ${quotable(version)} (supported versions: ${supported.join(", ")})`)

export const secondStream: HttpRefusal = make(
  409,
  JsonRpcError.UNAVAILABLE,
  "Conflict: this session has its stream already; end that stream first, or resume it with Last-Event-ID"
)

export const unknownEvent = (id: string): HttpRefusal =>
  badRequest(
    `nothing can be resumed after event "${
      quotable(id)
    }": it does not belong to this session, it is too old, or events after it are lost; ` +
      "open a stream without Last-Event-ID"
  )

export const tooManySessions = (max: number): HttpRefusal =>
  make(503, JsonRpcError.UNAVAILABLE, `Service Unavailable: ${max} sessions are in use`, { "retry-after": "10" })
