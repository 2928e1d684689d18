/**
 * How an HTTP request is turned away: a status, and a JSON-RPC error that says what would have been right. One line for
 * each row of the table.
 *
 * The errors have no id: what is refused here was not read as a request. What a request is answered with is not here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Data from "effect/Data"
import { quotable } from "../runtime/Reply.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"

/**
 * A request that is not served. An application's `authenticate` fails with one to let nobody in.
 *
 * @since 0.1.0
 * @category errors
 */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  /** By their names in lower case: `www-authenticate`, for one. */
  readonly headers?: Headers | undefined
  /** What the client is told; it must hold no secret. */
  readonly error: JsonRpcError.ErrorObject
}> {
  override get message(): string {
    return this.error.message
  }
}

/**
 * The code that the official SDKs give to an unknown session.
 *
 * @since 0.1.0
 * @category codes
 */
export const SESSION_NOT_FOUND = -32001

/**
 * Turns the request away.
 *
 * @since 0.1.0
 * @category answering
 */
export const send = (exchange: HttpExchange, { error, headers, status }: Refusal): void =>
  failure(exchange, status, Message.failure(undefined, error), headers)

/**
 * Answers with a JSON-RPC error and this status.
 *
 * @since 0.1.0
 * @category answering
 */
export const failure = (exchange: HttpExchange, status: number, error: Message.Failure, headers?: Headers): void =>
  exchange.reply(
    status,
    { ...headers, "content-type": "application/json" },
    Json.stringify(error) ?? ""
  )

const refuse = (status: number, code: number, message: string, headers?: Headers): Refusal =>
  new Refusal({ status, headers, error: { code, message } })

const bad = (message: string): Refusal => refuse(400, JsonRpcError.INVALID_REQUEST, `Bad Request: ${message}`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const badRequest = bad

/**
 * @since 0.1.0
 * @category refusals
 */
export const forbidden = (header: "Host" | "Origin", value: string | undefined): Refusal =>
  refuse(
    403,
    JsonRpcError.UNAVAILABLE,
    value === undefined
      ? `Forbidden: the ${header} header is missing`
      : `Forbidden: the ${header} "${quotable(value)}" is not among those that this server allows`
  )

/**
 * @since 0.1.0
 * @category refusals
 */
export const notFound = (path: string): Refusal =>
  refuse(404, JsonRpcError.UNAVAILABLE, `Not Found: there is nothing at "${quotable(path)}"`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const methodNotAllowed = (method: string, allow: string): Refusal =>
  refuse(405, JsonRpcError.UNAVAILABLE, `Method Not Allowed: ${quotable(method)}; allowed are ${allow}`, { allow })

/**
 * @since 0.1.0
 * @category refusals
 */
export const notAcceptable = (types: string): Refusal =>
  refuse(406, JsonRpcError.UNAVAILABLE, `Not Acceptable: the Accept header must list ${types}`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const tooLarge = (maxBytes: number): Refusal =>
  refuse(413, JsonRpcError.UNAVAILABLE, `Payload Too Large: the body may have ${maxBytes} bytes`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const unsupportedMediaType: Refusal = refuse(
  415,
  JsonRpcError.UNAVAILABLE,
  "Unsupported Media Type: the Content-Type must be application/json, in UTF-8 and without a Content-Encoding"
)

/**
 * @since 0.1.0
 * @category refusals
 */
export const notUtf8: Refusal = refuse(400, JsonRpcError.PARSE_ERROR, "Parse error: the body is not UTF-8")

/**
 * @since 0.1.0
 * @category refusals
 */
export const unreadable: Refusal = refuse(400, JsonRpcError.PARSE_ERROR, "Parse error: the body cannot be read")

/**
 * @since 0.1.0
 * @category refusals
 */
export const noSession: Refusal = bad("the Mcp-Session-Id header is missing; it is given out by initialize")

/**
 * The same for a session that never was, one that has ended and one of somebody else.
 *
 * @since 0.1.0
 * @category refusals
 */
export const unknownSession: Refusal = refuse(
  404,
  SESSION_NOT_FOUND,
  "Session not found: it has ended or never was; begin a new one with initialize, without Mcp-Session-Id"
)

/**
 * Other SDKs look for the first three words.
 *
 * @since 0.1.0
 * @category refusals
 */
export const unsupportedVersion = (version: string, supported: ReadonlyArray<string>): Refusal =>
  bad(`Unsupported protocol version: ${quotable(version)} (supported versions: ${supported.join(", ")})`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const otherVersion = (version: string, agreed: string): Refusal =>
  bad(`the MCP-Protocol-Version is ${quotable(version)}, but this session has agreed on ${agreed}`)

/**
 * @since 0.1.0
 * @category refusals
 */
export const secondStream: Refusal = refuse(
  409,
  JsonRpcError.UNAVAILABLE,
  "Conflict: this session has its stream already; end that one first, or resume it with Last-Event-ID"
)

/**
 * @since 0.1.0
 * @category refusals
 */
export const unknownEvent = (id: string): Refusal =>
  bad(
    `nothing can be resumed after event "${quotable(id)}": it is not of this session, or too old; ` +
      "open a stream without Last-Event-ID"
  )

/**
 * @since 0.1.0
 * @category refusals
 */
export const tooManySessions = (max: number): Refusal =>
  refuse(503, JsonRpcError.UNAVAILABLE, `Service Unavailable: ${max} sessions are in use`, { "retry-after": "10" })

/**
 * @since 0.1.0
 * @category refusals
 */
export const closing: Refusal = refuse(503, JsonRpcError.UNAVAILABLE, "Service Unavailable: the server is closing", {
  "retry-after": "1",
  connection: "close"
})

/**
 * @since 0.1.0
 * @category refusals
 */
export const failed: Refusal = refuse(500, JsonRpcError.INTERNAL_ERROR, JsonRpcError.internal.message)
