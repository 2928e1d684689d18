/**
 * The storage of messages of `@effect/cluster`, for `ClusterEngine`, for a database that is away now and then, and for processes that hang
 * and go on. This module corrects two things of `@effect/cluster` 0.60:
 *
 * - **The storage gives up after a second.** When it has not stored the end of a step, the step is under way for ever; when it has not
 *   stored the next step, the body ends as failed. This module tries again until the database is there.
 * - **The first reply stays.** A process that has lost a task stores that the step of the task is suspended, maybe after another process
 *   began the step. Then the end of the step was not stored, and the task waited for ever. This module replaces a suspension by the end.
 */
import type { MalformedMessage, PersistenceError } from "@effect/cluster/ClusterError"
import * as Message from "@effect/cluster/Message"
import { MessageStorage } from "@effect/cluster/MessageStorage"
import type { Snowflake } from "@effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** Repeats the effect until the database is there. The engine interrupts it when the process has lost its lease. */
const untilThere = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: ({ _tag }) => _tag === "PersistenceError", schedule: Schedule.spaced("500 millis") })

/** Returns whether a reply, stored or not yet stored, says that a body or a step has stopped before its end. */
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
            // The reply was stored before, by this process or another: who waits for the reply reads it from the storage.
            return storage.unregisterReplyHandler(requestId)
          }))
      )
    }
    /** Removes a suspension. The reply of a step that has ended meanwhile stays. */
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
