import { describe } from "@effect/vitest"
import type { EventStoreService } from "@effect-mcp/core/EventStore"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { claims, laws } from "@effect-mcp/testing/EventStoreLaws"
import { Effect, Option } from "effect"
import { found } from "./Faults.js"

/** What `appendAll` is for a store that has only `append`. */
const together =
  ({ append, finish }: EventStoreService): NonNullable<EventStoreService["appendAll"]> => (key, events, isLast) =>
    Effect.tap(
      Effect.every(events, (event) => append(key, event)),
      () => isLast ? finish(key) : Effect.void
    )

describe("The laws of an event store", () => {
  found(laws, EventStore.memory(), {
    "gives the event at the position, too": [
      (store) => ({ after: (key, position) => store.after(key, position - 1) }),
      "returns the events after a position, in order and unchanged"
    ],
    "confuses sessions": [
      (store) => ({
        append: (key, event) => store.append({ ...key, session: "s" }, event),
        after: (key, position) => store.after({ ...key, session: "s" }, position)
      }),
      "keeps streams and sessions apart"
    ],
    "knows no requests": [
      () => ({ unfinished: () => Effect.succeed([]) }),
      "returns the requests of a stream until the stream has finished"
    ],
    "does not look at the epoch": [
      (store) => ({ append: ({ session, stream }, event) => store.append({ session, stream }, event) }),
      "changes nothing for an old epoch"
    ],
    "begins and forgets streams in any epoch": [
      (store) => ({
        open: ({ session, stream }, requests) => store.open({ session, stream }, requests),
        forget: (session) => store.forget(session)
      }),
      "changes nothing for an old epoch"
    ],
    "has events of every stream": [
      (store) => ({
        after: (key, position) => Effect.map(store.after(key, position), Option.orElseSome(() => []))
      }),
      "keeps streams and sessions apart"
    ],
    "finishes a stream before its last events": [
      (store) => ({ appendAll: (key, events) => together(store)(key, events, true) }),
      "stores several events of one call like single events, if it supports this"
    ],
    "never finishes a stream with its last events": [
      (store) => ({ appendAll: (key, events) => together(store)(key, events, false) }),
      "stores several events of one call like single events, if it supports this"
    ],
    "stores events that come together in any order": [
      (store) => ({ appendAll: (key, events, isLast) => together(store)(key, [...events].reverse(), isLast) }),
      "stores several events of one call like single events, if it supports this"
    ],
    "does not look at the epoch of events that come together": [
      (store) => ({
        appendAll: ({ session, stream }, events, isLast) => together(store)({ session, stream }, events, isLast)
      }),
      "stores several events of one call like single events, if it supports this"
    ]
  })
})

/** A store and a directory in memory, as if they were on one engine. */
const node = Effect.orDie(Effect.gen(function*() {
  const [store, sessions] = [yield* EventStore.memory(), yield* SessionDirectory.memory()]
  const { find } = yield* Effect.scoped(sessions.join("store"))
  const isOver = ({ epoch = 0, session }: { readonly session: string; readonly epoch?: number | undefined }) =>
    Effect.map(Effect.orDie(find(session)), Option.exists((entry) => entry.epoch > epoch))
  const fenced = <A>(key: EventStore.StreamKey, effect: Effect.Effect<A>, refused: A) =>
    Effect.if(isOver(key), { onTrue: () => Effect.succeed(refused), onFalse: () => effect })
  const events: EventStore.EventStoreService = {
    after: (key, position) => store.after(key, position),
    unfinished: (key) => store.unfinished(key),
    open: (key, requests) => fenced(key, store.open(key, requests), false),
    append: (key, event) => fenced(key, store.append(key, event), false),
    finish: (key) => fenced(key, store.finish(key), undefined),
    forget: (session, epoch) => fenced({ session, stream: "", epoch }, store.forget(session, epoch), undefined)
  }
  return { store, events, sessions }
}))

describe("The laws of an event store and a directory", () => {
  const law = "changes nothing for an old epoch, as soon as another node has claimed the session"
  found(claims, node, {
    "stores events of a session that was claimed": [
      ({ events, store }) => ({ events: { ...events, append: (key, event) => store.append(key, event) } }),
      law
    ],
    "begins streams of a session that was claimed": [
      ({ events, store }) => ({ events: { ...events, open: (key, requests) => store.open(key, requests) } }),
      law
    ],
    "finishes streams of a session that was claimed": [
      ({ events, store }) => ({ events: { ...events, finish: (key) => store.finish(key) } }),
      law
    ],
    "forgets a session that was claimed": [
      ({ events, store }) => ({ events: { ...events, forget: (session, epoch) => store.forget(session, epoch) } }),
      law
    ]
  })
})
