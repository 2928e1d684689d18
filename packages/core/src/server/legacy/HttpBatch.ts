/**
 * JSON-RPC batches over HTTP, which only revision 2025-03-26 has. This module decides whether to refuse a batch, and finds the requests in
 * a batch, for `Http`, `Post` and `Stateless`. The conversation itself reads the messages of a batch.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
import * as Predicate from "effect/Predicate"
import * as Message from "../../jsonrpc/Message.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as Version from "../../protocol/Version.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpRefusal } from "../HttpRefusal.js"

/** Makes the refusal of a batch; `undefined` when a client of this revision may send the batch. */
export const refusal = (
  batch: ReadonlyArray<unknown>,
  version: Version.Version | undefined
): HttpRefusal | undefined => {
  if (!Version.hasBatches(version)) {
    return Refusal.badRequest("only revision 2025-03-26 has batches of messages; send each message alone")
  }
  if (batch.length === 0) return Refusal.badRequest("the batch is empty")
  if (batch.length > Batch.MAX_BATCH) {
    return Refusal.badRequest(`the batch has ${batch.length} messages; at most ${Batch.MAX_BATCH} are allowed`)
  }
  // MUST NOT be part of a batch (2025-03-26 basic/lifecycle#initialization)
  return batch.some((element) => Predicate.isRecord(element) && element.method === Methods.initialize.name)
    ? Refusal.badRequest("initialize must not be part of a batch")
    : undefined
}

/** Gives the messages of a batch that get a response: all requests, including malformed requests. */
export const requests = (batch: ReadonlyArray<unknown>): ReadonlyArray<Message.Incoming> =>
  (Batch.messages(batch) ?? []).filter((incoming) =>
    Message.isMalformed(incoming)
      ? incoming.kind === "request" || incoming.kind === "unknown"
      : Message.isRequest(incoming)
  )

/** Gives the id of a request, or the ids of the requests of a batch. */
export const ids = (incoming: Message.Incoming): ReadonlyArray<Message.RequestId> => {
  const all = Message.isMalformed(incoming) && incoming.batch !== undefined ? requests(incoming.batch) : [incoming]
  return all.flatMap((one) => {
    const id = Message.isMalformed(one) ? one.id : Message.isRequest(one) ? one.id : undefined
    return id === undefined || id === null ? [] : [id]
  })
}
