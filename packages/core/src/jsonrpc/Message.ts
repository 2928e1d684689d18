/**
 * JSON-RPC messages as values: requests, notifications and responses. Input that is not a message becomes a `Malformed` value, with the
 * error code for the answer, and with the id of the input if the id can be read. No function throws.
 *
 * Messages are the parsed JSON objects themselves. This module checks the objects and does not copy them. Many peers send four kinds of
 * messages that the specification does not allow: `params: null`, `error: null` beside a result, `result: null` beside an error, and error
 * objects of another shape. This module returns a corrected copy of these messages. `MessageText` reads and writes the text of messages.
 *
 * @since 0.1.0
 */
import * as JsonRpcError from "./JsonRpcError.js"

/**
 * The id of a request: a string or an integer. `1` and `"1"` are two different ids.
 *
 * @category models
 */
export type RequestId = string | number

/**
 * Named parameters. MCP has no positional parameters.
 *
 * @category models
 */
export interface Params {
  readonly [key: string]: unknown
}

/**
 * The key for the origin of a received message. Over HTTP, the response to each request may be a stream of several messages. Each of these
 * messages has, under this key, the id of the request to which the stream belongs. A pipe has one stream for all requests, so messages of a
 * pipe do not have this key. A peer cannot set the key, because the key is a symbol and is never sent.
 *
 * @category constants
 */
export const stream: unique symbol = Symbol.for("@effect-mcp/core/Message/stream")

/** @category models */
export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly method: string
  readonly params?: Params
  readonly [stream]?: RequestId
}

/** @category models */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: Params
  readonly [stream]?: RequestId
}

/** @category models */
export interface Success {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly result: Params
}

/**
 * An error response. The id is absent or `null` when the sender of the error does not know the id of the request.
 *
 * @category models
 */
export interface Failure {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId | null
  readonly error: JsonRpcError.ErrorObject
}

/** @category models */
export type Response = Success | Failure

/** @category models */
export type Message = Request | Notification | Response

/**
 * Input that is not a message. `kind` is the kind of message that the input resembles. Input of kind `request` is answered with an error
 * that has `code`, and `id` if the input has an id. Input of kind `response` with an `id` ends the call that waits for this response. Input
 * of kind `unknown` has an id, but no method, no result and no error. It counts as a response if a call with this id waits, otherwise as a
 * request.
 *
 * @category models
 */
export class Malformed {
  readonly _tag = "Malformed"
  constructor(
    readonly kind: "request" | "notification" | "response" | "unknown",
    readonly code: number,
    /** One sentence about the error, which may be sent to the peer. */
    readonly message: string,
    readonly id?: RequestId | undefined,
    /** The elements, if the input is a JSON-RPC batch. Only revision 2025-03-26 has batches. */
    readonly batch?: ReadonlyArray<unknown> | undefined
  ) {}
}

/**
 * What a peer sent: a message, or input that is not a message.
 *
 * @category models
 */
export type Incoming = Message | Malformed

/** @category guards */
export const isMalformed = (incoming: Incoming): incoming is Malformed => incoming instanceof Malformed

/** @category guards */
export const isRequest = (message: Message): message is Request =>
  (message as Request).method !== undefined && (message as Request).id !== undefined

/** @category guards */
export const isNotification = (message: Message): message is Notification =>
  (message as Request).method !== undefined && (message as Request).id === undefined

/** @category guards */
export const isResponse = (message: Message): message is Response => (message as Request).method === undefined

/** @category guards */
export const isSuccess = (response: Response): response is Success => (response as Success).result !== undefined

/**
 * Whether a value is an id: strings and integers are ids, `true`, `null` and `1.5` are not.
 *
 * @category guards
 */
export const isRequestId = (u: unknown): u is RequestId => typeof u === "string" || Number.isSafeInteger(u)

/** @category utils */
export const request = (id: RequestId, method: string, params?: Params): Request =>
  params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }

/** @category utils */
export const notification = (method: string, params?: Params): Notification =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }

/**
 * Adds the key `stream` to a message, with the id of the request to which the stream belongs. Returns responses and malformed input
 * unchanged.
 *
 * @category utils
 */
export const onStream = <A extends Incoming>(incoming: A, id: RequestId): A =>
  isMalformed(incoming) || isResponse(incoming)
    ? incoming
    : Object.defineProperty({ ...incoming }, stream, { value: id })

/** @category utils */
export const success = (id: RequestId, result: Params): Success => ({ jsonrpc: "2.0", id, result })

/**
 * Makes an error response. The response has no id when `id` is `undefined`. Pass `undefined` when the id of the request is not known.
 *
 * @category utils
 */
export const failure = (id: RequestId | undefined, error: JsonRpcError.ErrorObject): Failure =>
  id === undefined
    ? { jsonrpc: "2.0", error: JsonRpcError.toObject(error) }
    : { jsonrpc: "2.0", id, error: JsonRpcError.toObject(error) }

/**
 * Makes the response to a request from an outcome, which is a result or an error.
 *
 * @category utils
 */
export const response = (
  id: RequestId,
  { error, result }:
    | { readonly result: Params; readonly error?: undefined }
    | { readonly result?: undefined; readonly error: JsonRpcError.ErrorObject }
): Response => error === undefined ? { jsonrpc: "2.0", id, result } : failure(id, error)

/**
 * Makes the error response to a malformed request.
 *
 * @category utils
 */
export const malformedResponse = (malformed: Malformed): Failure =>
  failure(malformed.id, { code: malformed.code, message: malformed.message })

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null && !Array.isArray(u)

const invalid = (kind: Malformed["kind"], message: string, id: unknown): Malformed =>
  new Malformed(kind, JsonRpcError.INVALID_REQUEST, `Invalid request: ${message}`, isRequestId(id) ? id : undefined)

/**
 * Checks a value that a peer sent. Returns a message that conforms unchanged.
 *
 * @category constructors
 */
export const fromUnknown = (u: unknown): Incoming => {
  if (!isObject(u)) {
    return Array.isArray(u)
      ? new Malformed(
        "request",
        JsonRpcError.INVALID_REQUEST,
        "Invalid request: expected one message, received a batch",
        undefined,
        u
      )
      : invalid("request", `expected an object, received ${u === null ? "null" : typeof u}`, undefined)
  }
  return u.method !== undefined ? toCall(u) : toResponse(u)
}

const toCall = (u: Record<string, unknown>): Incoming => {
  const { id, method, params } = u
  // A message with `id: null` is a malformed request, and not a notification, because its sender expects an answer.
  const kind = "id" in u ? "request" : "notification"
  if (u.jsonrpc !== "2.0") return invalid(kind, `"jsonrpc" must be "2.0"`, id)
  if (kind === "request" && !isRequestId(id)) return invalid(kind, `"id" must be a string or an integer`, id)
  if (typeof method !== "string") return invalid(kind, `"method" must be a string`, id)
  if (params !== undefined && !isObject(params)) {
    if (params === null) return withoutParams(u)
    // Positional parameters are valid JSON-RPC, but no method of MCP has them.
    return Array.isArray(params)
      ? new Malformed(kind, JsonRpcError.INVALID_PARAMS, "Invalid params: expected an object", id as RequestId)
      : invalid(kind, `"params" must be an object`, id)
  }
  return u as unknown as Message
}

const withoutParams = ({ params: _, ...rest }: Record<string, unknown>): Message => rest as unknown as Message

const toResponse = (u: Record<string, unknown>): Incoming => {
  const { error, id, result } = u
  if (result === undefined && error === undefined) {
    return invalid(isRequestId(id) ? "unknown" : "request", `"method" is missing`, id)
  }
  if (u.jsonrpc !== "2.0") return invalid("response", `"jsonrpc" must be "2.0"`, id)
  if (result === undefined || (result === null && error !== undefined && error !== null)) return errorResponse(u)
  if (error !== undefined && error !== null) {
    return invalid("response", `"result" and "error" exclude each other`, id)
  }
  if (!isRequestId(id)) return invalid("response", `"id" must be a string or an integer`, id)
  if (!isObject(result)) return invalid("response", `"result" must be an object`, id)
  return error === null ? success(id, result) : u as unknown as Success
}

const errorResponse = (u: Record<string, unknown>): Incoming => {
  const { error, id, result } = u
  if (id !== undefined && id !== null && !isRequestId(id)) {
    return invalid("response", `"id" must be a string or an integer`, id)
  }
  if (isObject(error) && Number.isInteger(error.code) && typeof error.message === "string" && result === undefined) {
    return u as unknown as Failure
  }
  const read = errorObject(error)
  return read === undefined
    ? invalid("response", `"error" must have an integer "code" and a string "message"`, id)
    : { jsonrpc: "2.0", ...(id === undefined ? undefined : { id }), error: read }
}

/**
 * Makes an error object from an error of another shape; `undefined` when the function cannot read the error. An error without a code gets
 * the code of an internal error.
 */
const errorObject = (error: unknown): JsonRpcError.ErrorObject | undefined => {
  if (typeof error === "string") return { code: JsonRpcError.INTERNAL_ERROR, message: error }
  if (!isObject(error)) return undefined
  const { code, data, message } = error
  const read = typeof code === "string" && /^-?\d{1,9}$/.test(code) ? Number(code) : code
  return JsonRpcError.toObject({
    code: Number.isInteger(read) ? read as number : JsonRpcError.INTERNAL_ERROR,
    message: typeof message === "string" ? message : "The peer sent an error without a message",
    data
  })
}
