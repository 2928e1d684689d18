/**
 * What ends a stream: the last response. When its node has ended while requests ran, each request that has no response on the
 * stream gets an error, and never runs again. When the store has lost the end, a client learns that it cannot resume.
 */
import type { ErrorObject } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { EventStoreError, EventStoreService, StoredEvent, StreamKey } from "../EventStore.js"
import * as EventId from "./EventId.js"

/** Finishes a stream that began in an earlier epoch than that of the key, unless it has finished. `false` when the epoch is over. */
export const make = (
  store: EventStoreService,
  key: StreamKey,
  error: ErrorObject
): Effect.Effect<boolean, EventStoreError> => {
  const answer = (requests: ReadonlyArray<RequestId>, answered: ReadonlySet<RequestId>) => {
    // The store may have some of them from an attempt before: each request has a position of its own.
    const errors = requests.map((id, n) => ({
      id,
      position: EventId.before(key.epoch) + n + 1,
      data: MessageText.stringify(Message.failure(id, error))!
    })).filter(({ id }) => !answered.has(id))
    return Effect.zipLeft(
      Effect.map(
        Effect.forEach(errors, ({ data, position }) => store.append(key, { data, position })),
        (stored) => stored.every((isCurrent) => isCurrent)
      ),
      store.finish(key)
    )
  }
  return Effect.flatMap(store.unfinished(key), (requests) =>
    requests.length === 0
      ? Effect.succeed(true)
      : Effect.flatMap(answeredIn(store, key), (answered) => answer(requests, answered)))
}

/**
 * Whether the store has the end of a stream that has finished. The store may have lost the end and not know it: the database was away,
 * or came back without its last events. `missed` are the events after the position. The unanswered requests of a stream that
 * `recovers` get their errors when the client resumes it again.
 */
export const hasEnd = (
  store: EventStoreService,
  key: StreamKey,
  position: number,
  missed: ReadonlyArray<StoredEvent>,
  recovers: boolean
): Effect.Effect<boolean, EventStoreError> =>
  Effect.gen(function*() {
    const requests = yield* store.unfinished(key)
    if (requests.length > 0) {
      if (recovers) return true
      const answered = yield* answeredIn(store, key)
      if (!requests.every((id) => answered.has(id))) return false
    }
    // A client that has the last event names it.
    const events = missed.length > 0 ? Option.some(missed) : yield* store.after(key, position - 1)
    const last = Option.getOrElse(events, () => []).at(-1)
    return last !== undefined && responseIn(last.data) !== undefined
  })

const answeredIn = (store: EventStoreService, key: StreamKey): Effect.Effect<ReadonlySet<RequestId>, EventStoreError> =>
  Effect.map(
    store.after(key, -1),
    (events) => new Set(Option.getOrElse(events, () => []).flatMap(({ data }) => responseIn(data)?.id ?? []))
  )

/** The limits are for messages of peers: this server has written these. */
const UNLIMITED: MessageText.Limits = { maxDepth: Infinity, maxNodes: Infinity, maxResponseNodes: Infinity }

/** `undefined` for other messages. */
const responseIn = (data: string): Message.Response | undefined => {
  const message = MessageText.parse(data, UNLIMITED)
  return !Message.isMalformed(message) && Message.isResponse(message) ? message : undefined
}
