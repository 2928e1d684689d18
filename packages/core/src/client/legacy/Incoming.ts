/**
 * Decodes what a body or an event holds into messages, for `Post`, `EventStream` and `Sse`, and delivers them to the `Reader` of the
 * connection. Text that is not a message is reported and costs nothing else; it is answered only when its sender waits for an answer.
 */
import * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import * as Oversized from "../../jsonrpc/runtime/Oversized.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Event } from "../http/Events.js"
import type { HttpSession } from "./HttpSession.js"

/** The messages of a text. */
export const fromText = (session: HttpSession, text: string): ReadonlyArray<Message.Incoming> =>
  // MUST support receiving batches (2025-03-26 basic#batching)
  Batch.flattened(MessageText.parse(text, session.connection.settings))
    .map((message) => session.connection.redacted(reportUnanswerable(message)))

/** Without an id, an error would answer a request that the server never sent. */
const reportUnanswerable = (incoming: Message.Incoming): Message.Incoming =>
  Message.isMalformed(incoming) && incoming.kind === "request" && incoming.id === undefined
    ? new Message.Malformed("notification", incoming.code, incoming.message, undefined, incoming.batch)
    : incoming

/** The messages of an event. An event with empty data only carries an id. */
export const fromEvent = (session: HttpSession, event: Event): ReadonlyArray<Message.Incoming> => {
  if (event instanceof Sse.TooLarge) {
    return [reportUnanswerable(Oversized.ofEvent(event))]
  }
  const { data, event: name } = event
  // MUST NOT be parsed as a message when it is empty (2025-11-25 basic/transports#sending-messages-to-the-server)
  return data === undefined || data === "" || (name !== undefined && name !== "" && name !== "message")
    ? []
    : fromText(session, data)
}

/**
 * Delivers messages. After a message that is answered it waits until there is space for answers: a server that accepts none
 * is read no further.
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
