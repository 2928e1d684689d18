/**
 * What a body or an event says, as messages. What is none is reported and costs nothing else; it is answered only when its
 * sender waits for an answer.
 *
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import type * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Batch from "@effect-mcp/jsonrpc/unstable/Batch"
import { otherForm } from "@effect-mcp/jsonrpc/unstable/RequestIds"
import type * as Effect from "effect/Effect"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { HttpSession } from "./HttpSession.js"

/**
 * Something that is no message, for whoever keeps an eye on the server.
 *
 * @since 0.1.0
 * @category constructors
 */
export const odd = (message: string, code: number = JsonRpcError.INVALID_REQUEST): Message.Malformed =>
  new Message.Malformed("notification", code, message)

/**
 * Reads a text.
 *
 * @since 0.1.0
 * @category decoding
 */
export const read = (site: HttpConnection, session: HttpSession, text: string): ReadonlyArray<Message.Incoming> => {
  const incoming = MessageText.parse(text, site.options)
  const batch = Message.isMalformed(incoming) ? incoming.batch : undefined
  if (batch === undefined) return [checked(incoming)]
  if (!session.takesBatches) return [odd("Invalid request: batches are known to the revision 2025-03-26 only")]
  const messages = Batch.messages(batch)
  return messages === undefined
    ? [odd(`Invalid request: a batch may hold from 1 to ${Batch.MAX_BATCH} messages`)]
    : messages.map(checked)
}

const checked = (incoming: Message.Incoming): Message.Incoming => {
  if (!Message.isMalformed(incoming) || incoming.kind !== "request") return incoming
  // An answer to nothing would be sent to a server that asked nothing.
  return incoming.id === undefined || incoming.batch !== undefined ? odd(incoming.message, incoming.code) : incoming
}

/**
 * The messages of an event. One with empty data is there for its id only.
 *
 * @since 0.1.0
 * @category decoding
 */
export const ofEvent = (
  site: HttpConnection,
  session: HttpSession,
  { data, event }: Sse.Event
): ReadonlyArray<Message.Incoming> =>
  // MUST NOT be parsed as a message when it is empty (2025-11-25 basic/transports#sending-messages-to-the-server)
  data === undefined || data === "" || (event !== undefined && event !== "" && event !== "message")
    ? []
    : read(site, session, data)

/**
 * Brings messages in; gives what to wait for before more are read. A server that takes no answers is asked no questions.
 *
 * @since 0.1.0
 * @category delivering
 */
export const deliver = (
  site: HttpConnection,
  messages: ReadonlyArray<Message.Incoming>
): Effect.Effect<void> | undefined => {
  let asks = false
  for (const message of messages) {
    asks ||= Message.isMalformed(message) || Message.isRequest(message)
    site.inbox.deliver(message)
  }
  return asks && site.others.isFull ? site.others.room : site.inbox.congestion
}

/**
 * Whether a message answers the request of this id, as written or in its other form.
 *
 * @since 0.1.0
 * @category guards
 */
export const answers = (message: Message.Incoming, id: Message.RequestId): message is Message.Response => {
  if (Message.isMalformed(message) || !Message.isResponse(message)) return false
  return message.id === id || (message.id !== undefined && message.id !== null && message.id === otherForm(id))
}
