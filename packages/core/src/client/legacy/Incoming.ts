/**
 * Decodes the text of a body or an event into messages, and delivers them to the `Reader` of the connection; for `Post`, `EventStream` and
 * `Sse`. Text that is not a message is reported. The client answers such a text with an error only when the text has an id, because then
 * the sender waits for an answer.
 */
import * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import * as Oversized from "../../jsonrpc/runtime/Oversized.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Event } from "../http/Events.js"
import type { HttpSession } from "./HttpSession.js"

/** Reads the messages of a text. */
export const fromText = (session: HttpSession, text: string): ReadonlyArray<Message.Incoming> =>
  // A client MUST support receiving batches (2025-03-26 basic#batching).
  Batch.flattened(MessageText.parse(text, session.connection.settings))
    .map((message) => session.connection.redacted(reportUnanswerable(message)))

/**
 * Turns malformed input that looks like a request without an id into a notification. An error without an id would answer a request that the
 * server never sent.
 */
const reportUnanswerable = (incoming: Message.Incoming): Message.Incoming =>
  Message.isMalformed(incoming) && incoming.kind === "request" && incoming.id === undefined
    ? new Message.Malformed("notification", incoming.code, incoming.message, undefined, incoming.batch)
    : incoming

/** Reads the messages of an event. An event with empty data has only an id. */
export const fromEvent = (session: HttpSession, event: Event): ReadonlyArray<Message.Incoming> => {
  if (event instanceof Sse.TooLarge) {
    return [reportUnanswerable(Oversized.ofEvent(event))]
  }
  const { data, event: name } = event
  // Empty data MUST NOT be parsed as a message (2025-11-25 basic/transports#sending-messages-to-the-server).
  return data === undefined || data === "" || (name !== undefined && name !== "" && name !== "message")
    ? []
    : fromText(session, data)
}

/**
 * Delivers messages. After a message that the client answers, waits until there is space for answers. Therefore the client stops reading
 * from a server that accepts no answers.
 *
 * @param call The request on whose stream the messages came; `undefined` for the standalone stream.
 */
export const deliver = (
  { connection }: HttpSession,
  messages: ReadonlyArray<Message.Incoming>,
  call?: Message.RequestId
): Effect.Effect<void> =>
  Effect.forEach(
    messages,
    (message) => {
      const delivering = connection.reader.deliver(call === undefined ? message : Message.onStream(message, call))
      return Message.isMalformed(message) || Message.isRequest(message)
        ? Effect.zipRight(delivering, connection.messages.awaitSpace)
        : delivering
    },
    { discard: true }
  )
