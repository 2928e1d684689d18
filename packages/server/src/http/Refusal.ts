/**
 * The refusals that both eras share, one for each row of the table of HTTP status codes, and how a refusal is sent. The
 * errors have no id, because the endpoint refuses before it has read a request. Refusals about sessions and their streams
 * are in `legacy/Refusal`.
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import { HttpRefusal } from "../HttpRefusal.js"
import { quotable } from "../runtime/Subject.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"

/** Refuses the request. */
export const send = (exchange: HttpExchange, { error, headers, status }: HttpRefusal): void =>
  failure(exchange, status, Message.failure(undefined, error), headers)

/** Answers with a JSON-RPC error and this status. */
export const failure = (exchange: HttpExchange, status: number, error: Message.Failure, headers?: Headers): void =>
  exchange.reply(
    status,
    { ...headers, "content-type": "application/json" },
    Json.stringify(error) ?? ""
  )

export const make = (status: number, code: number, message: string, headers?: Headers): HttpRefusal =>
  new HttpRefusal({ status, headers, error: { code, message } })

export const badRequest = (message: string): HttpRefusal =>
  make(400, JsonRpcError.INVALID_REQUEST, `Bad Request: ${message}`)

export const forbidden = (header: "Host" | "Origin", value: string | undefined): HttpRefusal =>
  make(
    403,
    JsonRpcError.UNAVAILABLE,
    value === undefined
      ? `Forbidden: the ${header} header is missing`
      : `Forbidden: the ${header} "${quotable(value)}" is not among those that this server allows`
  )

export const notFound = (path: string): HttpRefusal =>
  make(404, JsonRpcError.UNAVAILABLE, `Not Found: there is nothing at "${quotable(path)}"`)

export const methodNotAllowed = (method: string, allow: string): HttpRefusal =>
  make(405, JsonRpcError.UNAVAILABLE, `Method Not Allowed: ${quotable(method)}; allowed are ${allow}`, { allow })

export const notAcceptable = (types: string): HttpRefusal =>
  make(406, JsonRpcError.UNAVAILABLE, `Not Acceptable: the Accept header must list ${types}`)

export const tooLarge = (maxBytes: number): HttpRefusal =>
  make(413, JsonRpcError.UNAVAILABLE, `Payload Too Large: the body may have ${maxBytes} bytes`)

export const unsupportedMediaType: HttpRefusal = make(
  415,
  JsonRpcError.UNAVAILABLE,
  "Unsupported Media Type: the Content-Type must be application/json, in UTF-8 and without a Content-Encoding"
)

export const unsupportedTransferCoding: HttpRefusal = make(
  400,
  JsonRpcError.UNAVAILABLE,
  "Bad Request: the only Transfer-Encoding that the server reads is chunked",
  { connection: "close" }
)

export const repeatedHeader = (name: string): HttpRefusal => badRequest(`the ${name} header is repeated`)

export const notUtf8: HttpRefusal = make(400, JsonRpcError.PARSE_ERROR, "Parse error: the body is not UTF-8")

export const unreadable: HttpRefusal = make(400, JsonRpcError.PARSE_ERROR, "Parse error: the body cannot be read")

export const closing: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: the server is closing",
  { "retry-after": "1", connection: "close" }
)

export const failed: HttpRefusal = make(500, JsonRpcError.INTERNAL_ERROR, JsonRpcError.internal.message)
