/**
 * What the next node of a session must know of the readers (`ResumableStream`) of the session's standalone stream (`Standalone`): up to
 * which position the readers have received the events. The event store (`StreamStore`) keeps this position in place of the requests that a
 * stream answers, because a standalone stream answers no requests.
 *
 * `isUnread` is true until this node knows what readers at other nodes have received. It learns this from the stored note, or from a client
 * that names its last event. Until then this node writes no note.
 */
import * as Effect from "effect/Effect"
import type { EventStoreError } from "../EventStore.js"
import * as EventId from "./EventId.js"
import type { StreamStore } from "./StreamStore.js"

export class ReaderNotes {
  constructor(private readonly store: StreamStore, public isUnread: boolean) {}

  /** The position up to which readers at earlier nodes have received the events; 0 when no note is stored. */
  get read(): Effect.Effect<number, EventStoreError> {
    const { context, key, service } = this.store
    return Effect.map(context.logged(service.unfinished(key)), ([position]) => {
      this.isUnread = false
      return typeof position === "number" ? Math.min(position, EventId.before(key.epoch)) : 0
    })
  }

  /** Notes that the readers have received the events up to this position. */
  write(position: number): Effect.Effect<void> {
    const { store } = this
    return Effect.suspend(() => this.isUnread ? Effect.void : store.write(store.service.open(store.key, [position])))
  }

  /** Notes that a reader is attached now, and so receives every event of this node. */
  get attached(): Effect.Effect<void> {
    return this.write(EventId.before((this.store.key.epoch ?? 1) + 1))
  }
}
