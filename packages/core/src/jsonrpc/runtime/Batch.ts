/**
 * JSON-RPC batches, which only revision 2025-03-26 has: the limit of a batch, and the messages in a batch. A client accepts a batch with
 * every revision (`client/legacy/Incoming`, `client/modern/Http`). A server decides whether it accepts a batch, in a `Conversation` or over
 * HTTP (`server/legacy/HttpBatch`).
 */
import * as Message from "../Message.js"

export const MAX_BATCH = 100

/**
 * The messages of a batch; `undefined` when the batch is empty or has more than `MAX_BATCH` messages. A batch inside a batch is malformed.
 */
export const messages = (batch: ReadonlyArray<unknown>): ReadonlyArray<Message.Incoming> | undefined =>
  batch.length === 0 || batch.length > MAX_BATCH ? undefined : batch.map(element)

/** The messages of a batch. Input that is not a batch gives an array with that input alone. Some servers write every answer as a batch. */
export const flattened = (given: Message.Incoming): ReadonlyArray<Message.Incoming> =>
  !Message.isMalformed(given) || given.batch === undefined ? [given] : messages(given.batch) ?? [refused(given)]

/** The same input, with a message that says that the batch is empty or too large. */
export const refused = ({ batch, code, kind }: Message.Malformed): Message.Malformed =>
  new Message.Malformed(
    kind,
    code,
    `Invalid request: a batch may hold from 1 to ${MAX_BATCH} messages`,
    undefined,
    batch
  )

const element = (value: unknown): Message.Incoming => {
  const incoming = Message.fromUnknown(value)
  return Message.isMalformed(incoming) && incoming.batch !== undefined
    ? new Message.Malformed(incoming.kind, incoming.code, incoming.message)
    : incoming
}
