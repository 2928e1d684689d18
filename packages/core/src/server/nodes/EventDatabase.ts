/**
 * Makes an `EventStore` from a database that may fail, for `RedisEventStore` and `SqlEventStore`. When the database cannot store an event,
 * the event is lost, and the stream has a gap. This node keeps the position of the gap in memory until the database has stored the
 * position. No client can resume a stream from a position before the gap.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { EventStoreError, type EventStoreService, type StoredEvent, type StreamKey } from "../EventStore.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"
import * as Stored from "./Stored.js"

/**
 * A database of events. Each write to a stream also stores `missing`: the position of the last event of the stream that the database could
 * not store; `undefined` when no event is missing.
 */
export interface EventDatabase<E> {
  /** Begins a stream. `requests` is a JSON text. Gives `false` when the epoch of the key is old. */
  readonly open: (key: StreamKey, requests: string, missing: number | undefined) => Effect.Effect<boolean, E>
  /** The requests of a stream that has not finished; `undefined` for any other stream. */
  readonly unfinished: (key: StreamKey) => Effect.Effect<string | undefined, E>
  /** Stores at least one event. With `isLast`, then finishes the stream. Gives `false` when the epoch of the key is old. */
  readonly append: (
    key: StreamKey,
    events: ReadonlyArray<StoredEvent>,
    isLast: boolean,
    missing: number | undefined
  ) => Effect.Effect<boolean, E>
  readonly after: (
    key: StreamKey,
    position: number
  ) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, E>
  /** Finishes a stream. Gives `false` when the epoch of the key is old. */
  readonly finish: (key: StreamKey, missing: number | undefined) => Effect.Effect<boolean, E>
  readonly forget: (session: string, epoch: number | undefined) => Effect.Effect<unknown, E>
}

/** For how many finished streams a node stores a gap. */
const MAX_GAPS = 10_000

/**
 * Makes an `EventStore`. `report` makes the message for the operator from a failure. When a write fails, the event is lost, and the log
 * says when writes begin to fail. When a read fails, the operation fails.
 */
export const toStore = <E>(database: EventDatabase<E>, report: (error: E) => string): EventStoreService => {
  const gaps = new Map<string, number>()
  /** The gaps of running streams, by the object of the key. These gaps are never removed. */
  const running = new WeakMap<StreamKey, number>()
  const gapOf = (key: StreamKey): number | undefined => running.get(key) ?? gaps.get(nameOf(key))
  const add = (key: StreamKey, position: number) => {
    const name = nameOf(key)
    running.set(key, position)
    gaps.delete(name)
    const [oldest] = gaps.size >= MAX_GAPS ? gaps.keys() : []
    if (oldest !== undefined) gaps.delete(oldest)
    gaps.set(name, position)
  }
  const logged = StoreFailure.once<EventStoreError>("The database of events")
  const reported = <A>(effect: Effect.Effect<A, E>): Effect.Effect<A, EventStoreError> =>
    Effect.mapError(effect, (error) => new EventStoreError({ message: report(error) }))

  /**
   * Writes together with the gap of the stream. After the database has stored the gap, removes the gap from memory, if there is no newer
   * gap.
   */
  const writing = (key: StreamKey, write: (missing: number | undefined) => Effect.Effect<boolean, E>) =>
    Effect.suspend(() => {
      const missing = gapOf(key)
      return Effect.map(logged(reported(write(missing))), (isStored) => {
        if (isStored && missing !== undefined && gapOf(key) === missing) {
          running.delete(key)
          gaps.delete(nameOf(key))
        }
        return isStored
      })
    })
  const isCurrent = () => true
  const finish = (key: StreamKey) =>
    Effect.orElseSucceed(writing(key, (missing) => database.finish(key, missing)), isCurrent)
  const append = (key: StreamKey, events: ReadonlyArray<StoredEvent>, isLast: boolean): Effect.Effect<boolean> =>
    Effect.catchAll(writing(key, (missing) => database.append(key, events, isLast, missing)), () => {
      add(key, events.at(-1)!.position)
      return Effect.as(isLast ? finish(key) : Effect.void, true)
    })

  return {
    open: (key, requests) =>
      Effect.orElseSucceed(
        writing(key, (missing) => database.open(key, JSON.stringify(requests), missing)),
        isCurrent
      ),
    unfinished: (key) =>
      reported(Effect.map(
        database.unfinished(key),
        (requests) => Stored.requests(requests) ?? []
      )),
    append: (key, event) => append(key, [event], false),
    appendAll: append,
    after: (key, position) =>
      reported(Effect.suspend(() =>
        position >= 0 && position < (gapOf(key) ?? 0)
          ? Effect.succeed(Option.none<ReadonlyArray<StoredEvent>>())
          : database.after(key, position)
      )),
    finish: (key) => Effect.asVoid(finish(key)),
    forget: (session, epoch) => Effect.ignore(logged(reported(database.forget(session, epoch))))
  }
}

const nameOf = ({ session, stream }: StreamKey): string => `${session.length}:${session}${stream}`
