/**
 * The refusals of HTTP requests that do not depend on the protocol revision, with their status codes and messages. `send` sends a refusal.
 * The error that `send` sends has no id, because the endpoint has not read the message yet. `failure` sends an error with an id.
 * `legacy/SessionRefusal` contains the refusals about sessions and their streams.
 */
import * as Duration from "effect/Duration"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as McpError from "../../protocol/McpError.js"
import * as Version from "../../protocol/Version.js"
import type { Refuses } from "../Authenticator.js"
import { HttpRefusal } from "../HttpRefusal.js"
import { quotable } from "../runtime/HandlerName.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as Metrics from "../telemetry/Metrics.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"
import type { Answerable, Headers } from "./HttpExchange.js"
import type { BodyFault } from "./RequestBody.js"

/** The members of a request that this module needs to refuse it. */
type Refused = Pick<Answerable, "headers" | "reply">

/** Refuses the request. */
export const send = (exchange: Refused, refusal: HttpRefusal): void =>
  failure(
    exchange,
    refusal.status,
    Message.failure(undefined, HandlerOutcome.errorOf(refusal, eraOf(exchange))),
    refusal.headers
  )

/**
 * Gives the era of a client: legacy (revisions up to 2025-11-25) or modern (revision 2026-07-28). When the endpoint has not read the
 * message, the header decides.
 */
export const eraOf = (
  { headers }: Pick<Refused, "headers">,
  message: Parameters<typeof Version.eraOfMessage>[0] = { method: "" }
) => Version.eraOfMessage(message, headers["mcp-protocol-version"])

/** Answers with a JSON-RPC error and this status. */
export const failure = (exchange: Refused, status: number, error: Message.Failure, headers?: Headers): void => {
  Metrics.rejectHttp(status)
  exchange.reply(
    status,
    { ...headers, "content-type": "application/json" },
    JsonText.stringify(error) ?? ""
  )
}

/** Makes an HTTP refusal from the failure of an authenticator. */
export const of = (refuses: Refuses, era: Version.Era): HttpRefusal => {
  if (refuses._tag === "HttpRefusal") return refuses
  const error = McpError.toWire(refuses, era)
  return new HttpRefusal({ status: refuses._tag === "InternalError" ? 500 : 403, error })
}

export const make = (status: number, code: number, message: string, headers?: Headers): HttpRefusal =>
  new HttpRefusal({ status, headers, error: { code, message } })

/**
 * A header that closes the connection. The client may still be sending a body that the server does not read.
 */
const CLOSED: Headers = { connection: "close" }

export const badRequest = (message: string): HttpRefusal =>
  make(400, JsonRpcError.INVALID_REQUEST, `Bad Request: ${message}`)

export const forbidden = (header: "Host" | "Origin", value: string | undefined): HttpRefusal =>
  make(
    403,
    JsonRpcError.UNAVAILABLE,
    value === undefined
      ? `Forbidden: the ${header} header is missing`
      : `Forbidden: the ${header} "${quotable(value)}" is not among the \`allowed${header}s\` of this server`
  )

export const notFound = (path: string): HttpRefusal =>
  make(404, JsonRpcError.UNAVAILABLE, `Not Found: there is nothing at "${quotable(path)}"`)

export const methodNotAllowed = (method: string, allow: string): HttpRefusal =>
  make(405, JsonRpcError.UNAVAILABLE, `Method Not Allowed: ${quotable(method)}; allowed methods: ${allow}`, { allow })

export const notAcceptable = (types: string): HttpRefusal =>
  make(406, JsonRpcError.UNAVAILABLE, `Not Acceptable: the Accept header must list ${types}`)

/**
 * The refusal of a body that is too large. `isEndless` is true when the rest of the body is so large that the server does not read it, not
 * even to drop it.
 */
export const tooLarge = (maxBytes: number, isEndless = false): HttpRefusal =>
  make(
    413,
    JsonRpcError.UNAVAILABLE,
    `Payload Too Large: the body may have at most ${maxBytes} bytes`,
    isEndless ? CLOSED : undefined
  )

const tooSlow: HttpRefusal = make(
  408,
  JsonRpcError.UNAVAILABLE,
  "Request Timeout: the body of the request did not arrive in time",
  CLOSED
)

const tooManyBytes: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: all incomplete requests together are too large, and this request has not run; try again",
  { "retry-after": "1", ...CLOSED }
)

/** The refusal of a long body when too many long bodies wait. */
export const tooManyLong: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: too many long requests wait, and this request has not run; try again",
  { "retry-after": "1" }
)

export const unsupportedMediaType: HttpRefusal = make(
  415,
  JsonRpcError.UNAVAILABLE,
  "Unsupported Media Type: the Content-Type must be application/json, in UTF-8 and without a Content-Encoding"
)

export const unsupportedTransferCoding: HttpRefusal = make(
  400,
  JsonRpcError.UNAVAILABLE,
  "Bad Request: the server supports only the Transfer-Encoding chunked",
  CLOSED
)

export const repeatedHeader = (name: string): HttpRefusal => badRequest(`the ${name} header is repeated`)

const notUtf8: HttpRefusal = make(400, JsonRpcError.PARSE_ERROR, "Parse error: the body is not UTF-8")

const unreadable: HttpRefusal = make(400, JsonRpcError.PARSE_ERROR, "Parse error: the body cannot be read")

const taken: HttpRefusal = make(
  500,
  JsonRpcError.INTERNAL_ERROR,
  "Internal error: the application has read the body of this request before the MCP endpoint: it must mount the endpoint " +
    "before its body parser, or pass the body on"
)

/** Makes the refusal of a request whose body the server could not read. */
export const ofBody = ({ fault }: BodyFault, maxBodyBytes: number): HttpRefusal =>
  fault === "size" ? tooLarge(maxBodyBytes) : unread[fault]

const unread = { encoding: notUtf8, unreadable, taken, time: tooSlow, sum: tooManyBytes }

export const closing: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: the server is closing",
  { "retry-after": "1", ...CLOSED }
)

/** The refusal on a server with several nodes, when the request did not reach the other node. */
export const nodeLost: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: the node that serves this session cannot be reached, and nothing has run; try again",
  { "retry-after": "1" }
)

/** The refusal on a server with several nodes, when too much text of this node waits for the other nodes. */
export const nodeBusy: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: too many requests wait for the node that serves this session, and nothing has run; try again",
  { "retry-after": "1" }
)

/**
 * The refusal of a notification or a response on a server with several nodes, when this node does not know whether the other node has
 * received the message.
 */
export const nodeSilent: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: the node that serves this session does not answer; try again",
  { "retry-after": "1" }
)

/**
 * Makes the refusal of a sender that has sent too many requests. The error also contains the seconds to wait, for transports without
 * headers.
 */
export const tooMany = (wait: Duration.Duration): HttpRefusal => {
  const seconds = Math.ceil(Math.min(Duration.toSeconds(wait), MAX_WAIT))
  return new HttpRefusal({
    status: 429,
    headers: { "retry-after": String(seconds) },
    error: {
      code: JsonRpcError.UNAVAILABLE,
      message: `Too Many Requests: send the next request in ${seconds} s`,
      data: { retryAfter: seconds }
    }
  })
}

/** A day, in seconds. */
const MAX_WAIT = 86_400

/** Makes the refusal for a request that needs a store, when the store did not answer or has refused the operation. */
export const storeAway = (what: string, isRefused?: boolean): HttpRefusal =>
  make(503, JsonRpcError.UNAVAILABLE, `Service Unavailable: ${StoreFailure.sentence(what, isRefused)}`, {
    "retry-after": "1"
  })

/** The refusal of a client that resumes a stream, when the event store does not answer. */
export const streamAway: HttpRefusal = make(
  503,
  JsonRpcError.UNAVAILABLE,
  "Service Unavailable: the events of this stream cannot be read at the moment; try again",
  { "retry-after": "1" }
)

/**
 * The refusal of a request whose session another node serves, when the application has passed the user with the request. This node cannot
 * send such a user to the other node.
 */
export const staysHere: HttpRefusal = make(
  421,
  JsonRpcError.UNAVAILABLE,
  "Misdirected Request: another node serves this session, and this node cannot send the user that the " +
    "application has passed to it: route requests to the nodes by Mcp-Session-Id, or make the " +
    "authenticator find the user in the headers"
)

export const failed: HttpRefusal = make(500, JsonRpcError.INTERNAL_ERROR, JsonRpcError.internal.message)
