/**
 * The messages of `@effect/cluster`, for `ClusterEngine`, for a database that is away now and then. `@effect/cluster` 0.60 gives up after a
 * second: a step whose end was not stored is under way for ever then, and a body whose next step was not stored ends as failed.
 */
import type { MalformedMessage, PersistenceError } from "@effect/cluster/ClusterError"
import * as Message from "@effect/cluster/Message"
import { MessageStorage } from "@effect/cluster/MessageStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"

/** Tries again until the database is there, or the process has lost its lease. */
const untilThere = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: ({ _tag }) => _tag === "PersistenceError", schedule: Schedule.spaced("500 millis") })

export const layer: Layer.Layer<MessageStorage, never, MessageStorage> = Layer.effect(
  MessageStorage,
  Effect.map(MessageStorage, (storage) => {
    type Reply = Parameters<typeof storage.saveReply>[0]
    const saveReply = (reply: Reply): Effect.Effect<void, PersistenceError | MalformedMessage> => {
      const { requestId } = reply.reply
      const save: Effect.Effect<void, PersistenceError | MalformedMessage> = storage.saveReply(reply)
      return untilThere(
        Effect.catchTag(
          save,
          "PersistenceError",
          (error) =>
            Effect.flatMap(storage.repliesForUnfiltered([requestId]), (stored) =>
              // It was stored before, here or at another process: who waits for it reads it.
              stored.length > 0 ? storage.unregisterReplyHandler(requestId) : error)
        )
      )
    }
    const patient = (message: Message.Incoming<any>): Message.Incoming<any> =>
      message._tag === "IncomingRequest" ? new Message.IncomingRequest({ ...message, respond: saveReply }) : message
    return MessageStorage.of({
      ...storage,
      saveReply,
      saveRequest: (message) => untilThere(storage.saveRequest(message)),
      saveEnvelope: (message) => untilThere(storage.saveEnvelope(message)),
      clearReplies: (requestId) => untilThere(storage.clearReplies(requestId)),
      repliesForUnfiltered: (requestIds) => untilThere(storage.repliesForUnfiltered(requestIds)),
      requestIdForPrimaryKey: (options) => untilThere(storage.requestIdForPrimaryKey(options)),
      unprocessedMessages: (shards) => Effect.map(storage.unprocessedMessages(shards), (all) => all.map(patient)),
      unprocessedMessagesById: (ids) => Effect.map(storage.unprocessedMessagesById(ids), (all) => all.map(patient))
    })
  })
)
