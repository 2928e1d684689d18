/**
 * Stores up to which position readers have received the events of a session's standalone stream (`Standalone`). When another node takes the
 * session over, that node needs this position. `ResumableStream` has the readers. For other streams, the event store (`StreamStore`) stores
 * the requests that the stream answers. A standalone stream answers no requests, so the event store stores the position in their place.
 *
 * `isUnread` is true until this node knows up to which position readers at other nodes have received events. This node learns the position
 * from the stored note, or from a client that names its last event. Until then this node writes no note.
 */
import * as Effect from "effect/Effect"
import type { EventStoreError } from "../EventStore.js"
import * as EventId from "./EventId.js"
import type { StreamStore } from "./StreamStore.js"

export class ReaderNotes {
  constructor(private readonly store: StreamStore, public isUnread: boolean) {}

  /** Reads the position up to which readers at earlier nodes have received the events; 0 when no note is stored. */
  get read(): Effect.Effect<number, EventStoreError> {
    const { context, key, service } = this.store
    return Effect.map(context.logged(service.unfinished(key)), ([position]) => {
      this.isUnread = false
      return typeof position === "number" ? Math.min(position, EventId.before(key.epoch)) : 0
    })
  }

  /** Stores that the readers have received the events up to this position. */
  write(position: number): Effect.Effect<void> {
    const { store } = this
    return Effect.suspend(() => this.isUnread ? Effect.void : store.write(store.service.open(store.key, [position])))
  }

  /** Stores that a reader is attached now, and so receives every event of this node. */
  get attached(): Effect.Effect<void> {
    return this.write(EventId.before((this.store.key.epoch ?? 1) + 1))
  }
}
