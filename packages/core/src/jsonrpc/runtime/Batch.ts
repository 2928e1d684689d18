/**
 * Reads the messages in a JSON-RPC batch, and limits the size of a batch. Only revision 2025-03-26 has batches. A client accepts batches
 * with every revision (`client/legacy/Incoming`, `client/modern/Http`). A server accepts batches in a `Conversation` if the option
 * `batches` allows this, or over HTTP (`server/legacy/HttpBatch`).
 */
import * as Message from "../Message.js"

export const MAX_BATCH = 100

/**
 * Returns the messages of a batch; `undefined` when the batch is empty or has more than `MAX_BATCH` messages. A batch inside a batch is
 * malformed.
 */
export const messages = (batch: ReadonlyArray<unknown>): ReadonlyArray<Message.Incoming> | undefined =>
  batch.length === 0 || batch.length > MAX_BATCH ? undefined : batch.map(element)

/**
 * Returns the messages of a batch. For input that is not a batch, returns an array with only this input. Some servers write every answer as
 * a batch.
 */
export const flattened = (given: Message.Incoming): ReadonlyArray<Message.Incoming> =>
  !Message.isMalformed(given) || given.batch === undefined ? [given] : messages(given.batch) ?? [refused(given)]

/** Returns the same input, with an error text that says that the batch is empty or too large. */
export const refused = ({ batch, code, kind }: Message.Malformed): Message.Malformed =>
  new Message.Malformed(
    kind,
    code,
    `Invalid request: a batch must have from 1 to ${MAX_BATCH} messages`,
    undefined,
    batch
  )

const element = (value: unknown): Message.Incoming => {
  const incoming = Message.fromUnknown(value)
  return Message.isMalformed(incoming) && incoming.batch !== undefined
    ? new Message.Malformed(incoming.kind, incoming.code, incoming.message)
    : incoming
}
