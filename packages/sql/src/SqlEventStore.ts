/**
 * Implements `EventStore` with PostgreSQL or SQLite, over a `SqlConnection`. `Batches` collects the events that arrive in one turn of the
 * event loop, and makes a batch of them. A batch has at most 100 events and 1 Mi characters. An event that is larger than 1 Mi characters
 * makes a batch of its own. `StreamWrites` stores a batch, `StreamRows` reads and deletes events, and `EventDatabase` of core makes the
 * `EventStore`.
 *
 * A session has a number, its epoch. Each time a node (process of the server) claims the session in the `SessionDirectory`, the epoch
 * increases. The database refuses an event with an epoch that is over. An epoch is over when a node has claimed the session with a later
 * epoch, or has stored events with a later epoch.
 *
 * When an event cannot be stored, its stream has a gap. A client cannot resume the stream from a position before the gap.
 *
 * @since 0.1.0
 */
import { EventStore, type EventStoreService } from "@effect-mcp/core/EventStore"
import * as EventDatabase from "@effect-mcp/core/unstable/server/EventDatabase"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Batches from "./connection/Batches.js"
import * as StreamRows from "./connection/StreamRows.js"
import * as StreamWrites from "./connection/StreamWrites.js"
import { SqlConnection } from "./SqlConnection.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /** How many events the database stores for one stream. When there are more events, the oldest events are dropped. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /**
   * How many characters of events may wait for the database. When more characters wait, new events are not stored. Default: 64 Mi
   * (67,108,864) characters.
   */
  readonly maxWaiting?: number | undefined
  /** How long the database stores the stream of a request after the response to the request. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
  /** How long the database stores a stream after the last event of the stream. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/** @category constructors */
export const make = (
  options: Options = {}
): Effect.Effect<EventStoreService, never, SqlConnection | Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* SqlConnection
    const rows = StreamRows.make(connection)
    yield* rows.sweep
    const write = StreamWrites.make(connection, {
      maxEvents: Math.max(1, options.maxEvents ?? 1000),
      retention: Duration.toMillis(options.retention ?? "5 minutes"),
      ttl: Duration.toMillis(options.ttl ?? "1 hour")
    })
    const submit = yield* Batches.make({
      count: 100,
      size: 1024 * 1024,
      waiting: options.maxWaiting ?? 64 * 1024 * 1024,
      sizeOf: StreamWrites.sizeOf
    }, write)

    return EventDatabase.toStore({
      open: (key, requests, missing) => submit([{ _tag: "Open", key, requests, missing }]),
      unfinished: rows.unfinished,
      append: (key, events, isLast, missing) => {
        const items = events.map((event): StreamWrites.Item => ({ _tag: "Append", key, event, missing }))
        return submit(isLast ? [...items, { _tag: "Finish", key, missing }] : items)
      },
      after: rows.after,
      finish: (key, missing) => submit([{ _tag: "Finish", key, missing }]),
      // This operation runs after all operations that already wait. Events that another node stores in the meantime belong to a later
      // epoch.
      forget: (session, epoch) =>
        Effect.flatMap(
          submit([{ _tag: "Await", key: { session, stream: "", epoch } }]),
          (isCurrent) => isCurrent ? rows.forget(session, epoch) : Effect.void
        )
    }, ({ message }) => message)
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<EventStore, never, SqlConnection> =>
  Layer.scoped(EventStore, make(options))

/** @category layers */
export const layer: Layer.Layer<EventStore, never, SqlConnection> = layerWith()
