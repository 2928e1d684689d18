/**
 * The JSON text of one message: reads and writes it, within the limits of `runtime/Json`.
 *
 * It knows one text at a time. Splitting a stream of bytes into texts is left to `LineFraming` and `Sse`, and a body of
 * HTTP is one text already.
 *
 * @since 0.1.0
 */
import * as JsonRpcError from "./JsonRpcError.js"
import * as Message from "./Message.js"
import * as Json from "./runtime/Json.js"

/**
 * Reads one message from a JSON document; the result is `Malformed` when it is none.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parse = (text: string, maxDepth?: number): Message.Incoming => {
  const value = Json.parse(text, maxDepth)
  if (!(value instanceof Json.Refused)) return Message.fromUnknown(value)
  const code = value.reason === "syntax" ? JsonRpcError.PARSE_ERROR : JsonRpcError.INVALID_REQUEST
  const refused = value.value === undefined ? undefined : Message.fromUnknown(value.value)
  if (refused === undefined) return new Message.Malformed("request", code, value.message)
  if (Message.isMalformed(refused)) return new Message.Malformed(refused.kind, code, value.message, refused.id)
  if (Message.isNotification(refused)) return new Message.Malformed("notification", code, value.message)
  const kind = Message.isResponse(refused) ? "response" : "request"
  return new Message.Malformed(kind, code, value.message, refused.id ?? undefined)
}

/**
 * The JSON text of a message, on one line and without a newline. An answer that has no JSON form becomes "Internal error"
 * under its id; for a request or a notification without a JSON form, the result is `undefined`.
 *
 * @since 0.1.0
 * @category encoding
 */
export const stringify = (message: Message.Message): string | undefined => {
  const text = Json.stringify(message)
  if (text !== undefined || !Message.isResponse(message)) return text
  return message.id === undefined || message.id === null
    ? undefined
    : Json.stringify(Message.failure(message.id, JsonRpcError.internal))
}
