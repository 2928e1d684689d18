/**
 * Makes an `EventStore` from a database that may fail, for `RedisEventStore` and `SqlEventStore`. An event that the database has not stored
 * is dropped, and leaves a gap. The node remembers where the gap is until the database has recorded the gap, and afterwards the database
 * remembers it. No client can resume a stream from a position before the gap.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { EventStoreError, type EventStoreService, type StoredEvent, type StreamKey } from "../EventStore.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"
import * as Stored from "./Stored.js"

/**
 * A database of events. A write to a stream also stores `missing`, the position of the last event of the stream that was not stored;
 * `undefined` when no event is missing.
 */
export interface EventDatabase<E> {
  /** The requests are given as a JSON text. Gives `false` when the epoch is over. */
  readonly open: (key: StreamKey, requests: string, missing: number | undefined) => Effect.Effect<boolean, E>
  /** The requests of a stream that has not finished; `undefined` for any other stream. */
  readonly unfinished: (key: StreamKey) => Effect.Effect<string | undefined, E>
  /** Stores at least one event. With `isLast`, it then finishes the stream. Gives `false` when the epoch is over. */
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
  /** `false` when the epoch is over. */
  readonly finish: (key: StreamKey, missing: number | undefined) => Effect.Effect<boolean, E>
  readonly forget: (session: string, epoch: number | undefined) => Effect.Effect<unknown, E>
}

/** For how many streams a node remembers a gap after the streams have finished. */
const MAX_GAPS = 10_000

/**
 * `report` makes the message for the operator from a failure. A write that fails is dropped, and the log says when writes begin to fail. A
 * read that fails makes the operation fail.
 */
export const toStore = <E>(database: EventDatabase<E>, report: (error: E) => string): EventStoreService => {
  const gaps = new Map<string, number>()
  /** The gaps of streams that go on, each by one key object: none of these gaps is forgotten. */
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

  /** Writes together with the gap of the stream. Forgets the gap when the database has stored it, unless there is a newer gap. */
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
