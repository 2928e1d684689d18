/**
 * JSON-RPC batches, which one revision has: whether a batch may be taken, and how many answers it gets.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Batch from "@effect-mcp/jsonrpc/unstable/Batch"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import * as Predicate from "effect/Predicate"
import * as Refusal from "../http/Refusal.js"

/**
 * Gives how to turn a batch away, unless it may be taken at this revision.
 *
 * @since 0.1.0
 * @category predicates
 */
export const refusal = (
  batch: ReadonlyArray<unknown>,
  version: Version.LegacyVersion | undefined
): Refusal.Refusal | undefined => {
  if (!Version.hasBatches(version)) {
    return Refusal.badRequest(
      "a batch of messages was sent, which is possible at 2025-03-26 only; send them one by one"
    )
  }
  if (batch.length === 0) return Refusal.badRequest("the batch is empty")
  if (batch.length > Batch.MAX_BATCH) {
    return Refusal.badRequest(`the batch has ${batch.length} messages, which may be ${Batch.MAX_BATCH}`)
  }
  // MUST NOT be part of a batch (2025-03-26 basic/lifecycle#initialization)
  return batch.some((element) => Predicate.isRecord(element) && element.method === Methods.initialize.name)
    ? Refusal.badRequest("initialize must not be part of a batch")
    : undefined
}

/**
 * How many answers the elements of a batch will get: one for each request, well formed or not.
 *
 * @since 0.1.0
 * @category getters
 */
export const answers = (batch: ReadonlyArray<unknown>): number =>
  batch.reduce<number>((count, element) => {
    const incoming = Message.fromUnknown(element)
    const asks = Message.isMalformed(incoming) ? incoming.kind === "request" : Message.isRequest(incoming)
    return asks ? count + 1 : count
  }, 0)
