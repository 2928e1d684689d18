/**
 * Wraps the message storage of `@effect/cluster`, for `ClusterEngine`. With this module, tasks survive when the database is unreachable for
 * a while, and when processes hang and then continue. This module corrects two problems of `@effect/cluster` 0.60:
 *
 * - **The storage gives up after a second.** When the storage has not stored the end of a step, the step never ends. When the storage has
 *   not stored the next step, the body ends as failed. This module tries again until the database answers.
 * - **The first reply stays.** A process that has lost a task stores the reply "suspended" for the running step. The process may store this
 *   reply after another process has begun the step. Because the first reply stays, the storage would not store the end of the step, and the
 *   task would wait for ever. This module replaces the reply "suspended" by the end of the step.
 */
import type { MalformedMessage, PersistenceError } from "@effect/cluster/ClusterError"
import * as Message from "@effect/cluster/Message"
import { MessageStorage } from "@effect/cluster/MessageStorage"
import type { Snowflake } from "@effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** Repeats the effect until the database answers. The engine interrupts the effect when the process has lost its lease. */
const untilThere = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: ({ _tag }) => _tag === "PersistenceError", schedule: Schedule.spaced("500 millis") })

/** Returns whether a reply says that a body or a step was suspended before its end. The reply may be stored or not yet stored. */
const isSuspension = (reply: object): boolean => "exit" in reply && isSuspended(reply.exit)

const isSuspended = Schema.is(
  Schema.Struct({ _tag: Schema.Literal("Success"), value: Schema.Struct({ _tag: Schema.Literal("Suspended") }) })
)

export const layer: Layer.Layer<MessageStorage, never, MessageStorage> = Layer.effect(
  MessageStorage,
  Effect.map(MessageStorage, (storage) => {
    type Reply = Parameters<typeof storage.saveReply>[0]
    const stored = (requestId: Snowflake) =>
      Effect.map(storage.repliesForUnfiltered([requestId]), (replies) => replies.at(-1))
    const saveReply = (reply: Reply): Effect.Effect<void, PersistenceError | MalformedMessage> => {
      const { requestId } = reply.reply
      const save: Effect.Effect<void, PersistenceError | MalformedMessage> = storage.saveReply(reply)
      return untilThere(
        Effect.catchTag(save, "PersistenceError", (error) =>
          Effect.flatMap(stored(requestId), (before) => {
            if (before === undefined) return error
            if (isSuspension(before) && !isSuspension(reply.reply)) {
              return Effect.zipRight(storage.clearReplies(requestId), save)
            }
            // This process or another process has already stored a reply. The waiting code reads this reply from the storage.
            return storage.unregisterReplyHandler(requestId)
          }))
      )
    }
    /** Removes the reply that a body or a step is suspended. Does not remove the reply of a step that has ended. */
    const clearReplies = (requestId: Snowflake): Effect.Effect<void, PersistenceError> =>
      Effect.flatMap(
        Effect.catchTag(stored(requestId), "MalformedMessage", (error) => Effect.die(error)),
        (before) => before === undefined || isSuspension(before) ? storage.clearReplies(requestId) : Effect.void
      )
    const patient = (message: Message.Incoming<any>): Message.Incoming<any> =>
      message._tag === "IncomingRequest" ? new Message.IncomingRequest({ ...message, respond: saveReply }) : message
    return MessageStorage.of({
      ...storage,
      saveReply,
      saveRequest: (message) => untilThere(storage.saveRequest(message)),
      saveEnvelope: (message) => untilThere(storage.saveEnvelope(message)),
      clearReplies: (requestId) => untilThere(clearReplies(requestId)),
      repliesForUnfiltered: (requestIds) => untilThere(storage.repliesForUnfiltered(requestIds)),
      requestIdForPrimaryKey: (options) => untilThere(storage.requestIdForPrimaryKey(options)),
      unprocessedMessages: (shards) => Effect.map(storage.unprocessedMessages(shards), (all) => all.map(patient)),
      unprocessedMessagesById: (ids) => Effect.map(storage.unprocessedMessagesById(ids), (all) => all.map(patient))
    })
  })
)
