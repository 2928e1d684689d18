/**
 * Recognizes the end of a request over HTTP, in both protocol eras: its answer among the incoming messages, or an error that says why no
 * answer will come. `legacy/Post`, `legacy/Sse` and `modern/Http` use this module.
 */
import type * as Effect from "effect/Effect"
import { type ErrorObject, INVALID_REQUEST } from "../../jsonrpc/JsonRpcError.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as Oversized from "../../jsonrpc/runtime/Oversized.js"
import { otherForm } from "../../jsonrpc/runtime/RequestIds.js"
import type * as Sse from "../../jsonrpc/Sse.js"

/** Receives the answer of a request, once, before the request ends. */
export type OnAnswer = (answer: Message.Response) => Effect.Effect<void>

/** Whether a message answers the request with this id. Some servers turn a number into text, or text into a number. */
export const isAnswer = (message: Message.Incoming, id: Message.RequestId): message is Message.Response => {
  if (Message.isMalformed(message) || !Message.isResponse(message)) return false
  return message.id === id || (message.id !== undefined && message.id !== null && message.id === otherForm(id))
}

/**
 * Whether an event that was too large may have been the answer to the request with this id. `false` only when the known parts of the event
 * show that it is a request or a notification of the server, or that it has another id.
 */
export const mayBeAnswer = (dropped: Sse.TooLarge, id: Message.RequestId): boolean => {
  const outline = Oversized.outlineOf(dropped)
  return outline.kind !== "request" &&
    (outline.id === undefined || outline.id === id || outline.id === otherForm(id))
}

/** Whether a message was meant as the answer to the request with this id, but is no valid response. */
export const isMalformed = (message: Message.Incoming, id: Message.RequestId): message is Message.Malformed =>
  Message.isMalformed(message) && (message.kind === "response" || message.kind === "unknown") && message.id === id

/** Returns the error in a response that fails its request; `undefined` for any other message. */
export const errorOf = (message: Message.Incoming): ErrorObject | undefined =>
  !Message.isMalformed(message) && Message.isResponse(message) && !Message.isSuccess(message)
    ? message.error
    : undefined

/** Whether a message is a response without an id. In the answer to a POST, such a response belongs to the request of the POST. */
export const isWithoutId = (message: Message.Incoming): boolean =>
  !Message.isMalformed(message) && Message.isResponse(message) && (message.id === undefined || message.id === null)

/** Makes the error for a request whose answer will not come. */
export const lost = (method: string, why: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Read", message: `The answer to "${method}" was lost: ${why}`, cause })

/** Makes the error for an answer that cannot be read. */
export const unreadable = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The answer to "${method}" cannot be read: ${why}` })

/** Makes the error for an answer that was not read because its event is too large. */
export const tooLargeEvent = (method: string, { maxEventBytes }: Sse.TooLarge): TransportError =>
  unreadable(method, `an event of its stream has more than ${maxEventBytes} bytes; ${advice("maxEventBytes")}`)

/** Makes the error for an answer that was not read because its body is too large. `size` says how large the body is. */
export const tooLargeBody = (method: string) => (size: string): TransportError =>
  unreadable(method, `its body has ${size}; ${advice("maxBodyBytes")}`)

const advice = (limit: "maxBodyBytes" | "maxEventBytes"): string =>
  `raise the limit ${limit}, or ask for a smaller answer`

/**
 * Makes the error for an answer that is a malformed message. JSON that is not a JSON-RPC message may come from a server of another kind.
 */
export const malformed = (method: string, { code, id, kind, message }: Message.Malformed, url: URL): TransportError =>
  unreadable(
    method,
    kind !== "response" && id === undefined && code === INVALID_REQUEST
      ? `it is JSON, but not a JSON-RPC message: ${message}; is ${url.origin}${url.pathname} the endpoint of an MCP server?`
      : message
  )
