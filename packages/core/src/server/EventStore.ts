/**
 * Stores the events that a server has sent on the streams of a session. When a client has lost its connection, it can resume a stream and
 * get the events that it has missed. Provide a store to an HTTP endpoint to allow clients of revision 2025-11-25 or earlier to resume their
 * streams. Without a store, a client cannot get the missed events.
 *
 * This module contains the interface of a store, and a store in memory. `legacy/StreamStore` numbers the events.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { RequestId } from "../jsonrpc/Message.js"
import * as Deadlines from "../kit/Deadlines.js"
import * as EffectInternals from "../kit/EffectInternals.js"

/** @category models */
export interface StoredEvent {
  /** The position of the event on its stream: at least 1, and greater than the position of the previous event on this stream. */
  readonly position: number
  /** The JSON text of a message. */
  readonly data: string
}

/**
 * Identifies a stream. The streams of different sessions have the same names, so the session is a part of the key.
 *
 * @category models
 */
export interface StreamKey {
  readonly session: string
  readonly stream: string
  /**
   * The epoch of the session in the `SessionDirectory`: a number that grows each time another node takes the session over. `undefined` on a
   * server with one node. An epoch is old when the store has already received a greater epoch of the session. An operation with an old
   * epoch changes nothing. Two keys that differ only in the epoch identify the same stream.
   */
  readonly epoch?: number | undefined
}

/**
 * The store did not answer. The endpoint answers the client with status 503, and the client can try again.
 *
 * @category errors
 */
export class EventStoreError extends Data.TaggedError("EventStoreError")<{ readonly message: string }> {}

/**
 * The operations of a store. An operation that writes never fails. When the store cannot write an event, the store drops the event. `after`
 * then gives `None`, and the client cannot resume the stream. The endpoint runs the operations on one stream one after another.
 *
 * @category models
 */
export interface EventStoreService {
  /**
   * Begins a stream that will answer these requests. For a stream that answers no requests, the endpoint passes a number in place of the
   * requests, and reads the number with `unfinished`. To replace the number, the endpoint calls `open` again. Gives `false`, and does not
   * begin the stream, when the epoch of the key is old. The endpoint does not call `open` when it stores all events of a stream with one
   * `appendAll`.
   */
  readonly open: (key: StreamKey, requests: ReadonlyArray<RequestId>) => Effect.Effect<boolean>
  /** Gives the `requests` of the last `open`, for a stream that has not finished. For any other stream the list is empty. */
  readonly unfinished: (key: StreamKey) => Effect.Effect<ReadonlyArray<RequestId>, EventStoreError>
  /**
   * Stores an event. The endpoint sends the event to the client after this effect has ended. When the epoch of the key is old, another node
   * serves the session: this effect then gives `false`, and does not store the event.
   */
  readonly append: (key: StreamKey, event: StoredEvent) => Effect.Effect<boolean>
  /**
   * Stores several events in order, with the same result as several calls of `append`. Then finishes the stream if `isLast` is true. While
   * the store stores earlier events of a stream, new events wait in the endpoint. The endpoint then stores all waiting events with one call
   * of `appendAll`. When the store does not have `appendAll`, the endpoint calls `append` for each event.
   */
  readonly appendAll?: (
    key: StreamKey,
    events: ReadonlyArray<StoredEvent>,
    isLast: boolean
  ) => Effect.Effect<boolean>
  /**
   * Gives the events after a position, in order. For the position `-1`, gives all stored events. There may be no event at the position
   * itself. Gives `None` when the stream is unknown, or when the store has dropped an event after the position.
   */
  readonly after: (
    key: StreamKey,
    position: number
  ) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, EventStoreError>
  /** Says that no more events follow on this stream. The store may drop the stream after a while. */
  readonly finish: (key: StreamKey) => Effect.Effect<void>
  /** Says that the session has ended. Drops all streams of the session. Does nothing when the epoch is old. */
  readonly forget: (session: string, epoch?: number) => Effect.Effect<void>
}

/** @category tags */
export class EventStore extends Context.Tag("@effect-mcp/core/EventStore")<EventStore, EventStoreService>() {}

/** @category models */
export interface MemoryOptions {
  /** How many events of one stream the store keeps. Beyond this limit, the store drops the oldest events of the stream. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /**
   * How many characters all streams may have together. Beyond this limit the store drops the oldest events, first the events of the stream
   * that was used least recently. Default: 64 Mi (67,108,864).
   */
  readonly maxSize?: number | undefined
  /** How long the store keeps the stream of a request after the response. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
}

/**
 * Makes a store in memory. When the process ends, the events are lost. A timer removes the streams whose `retention` has passed. The timer
 * ends with the scope.
 *
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<EventStoreService, never, Scope.Scope> =>
  Effect.zipWith(Deadlines.make(SWEEP), Effect.clock, (deadlines, clock) => new Memory(options, deadlines, clock))

/** The least time between two searches for streams whose `retention` has passed, in milliseconds. */
const SWEEP = 1000

/**
 * Makes the same layer as `layerMemory`, with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<EventStore> =>
  Layer.scoped(EventStore, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<EventStore> = layerMemoryWith()

interface Log {
  readonly key: StreamKey
  requests: ReadonlyArray<RequestId>
  events: Array<StoredEvent>
  /** The position of the last event that was dropped. */
  dropped: number
  /** When the log may be dropped, in milliseconds since 1970; `Infinity` while the stream has not finished. */
  until: number
}

// Estimates of the memory that an event and a stream need besides the text, in characters.
const EVENT = 64
const STREAM = 512

/**
 * The maps are mutable, because `append` runs for each event of a resumable stream, and a `Ref` would copy an immutable map for each event.
 * `size` is the sum of `sizeOf` over all events, plus `STREAM` for each log. `sessions` contains all logs. `logs` contains the same logs,
 * except for a running stream that has no events at the moment.
 */
class Memory implements EventStoreService, Deadlines.Expirable {
  private readonly sessions = new Map<string, Map<string, Log>>()
  /** In the order of their last events, the oldest first. */
  private readonly logs = new Set<Log>()
  /** In the order in which they finished. */
  private readonly finished = new Set<Log>()
  /** The greatest epoch of each session that has one. */
  private readonly epochs = new Map<string, number>()
  private readonly maxEvents: number
  private readonly maxSize: number
  private readonly retention: number
  private size = 0

  constructor(
    options: MemoryOptions,
    private readonly deadlines: Deadlines.Deadlines,
    private readonly clock: Clock.Clock
  ) {
    deadlines.watch(this, Infinity)
    this.maxEvents = Math.max(1, options.maxEvents ?? 1000)
    this.maxSize = options.maxSize ?? 64 * 1024 * 1024
    this.retention = Duration.toMillis(options.retention ?? "5 minutes")
  }

  open(key: StreamKey, requests: ReadonlyArray<RequestId>): Effect.Effect<boolean> {
    return Effect.sync(() => {
      if (!this.isCurrent(key)) return false
      this.logOf(key).requests = requests
      return true
    })
  }

  unfinished(key: StreamKey): Effect.Effect<ReadonlyArray<RequestId>> {
    return Effect.sync(() => {
      const log = this.find(key)
      return log === undefined || log.until !== Infinity ? [] : log.requests
    })
  }

  append(key: StreamKey, event: StoredEvent): Effect.Effect<boolean> {
    return Effect.sync(() => {
      if (!this.isCurrent(key)) return false
      const log = this.logOf(key)
      this.logs.delete(log)
      this.logs.add(log)
      log.events.push(event)
      this.size += sizeOf(event)
      if (log.events.length > this.maxEvents) this.dropFirst(log)
      while (this.size > this.maxSize && this.logs.size > 0) this.dropOldest()
      return true
    })
  }

  after(key: StreamKey, position: number): Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>> {
    return this.afterSweep(() => {
      const log = this.find(key)
      if (log === undefined || (position >= 0 && position < log.dropped)) return Option.none()
      return Option.some(log.events.filter((event) => event.position > position))
    })
  }

  finish(key: StreamKey): Effect.Effect<void> {
    return this.afterSweep((now) => {
      const log = this.isCurrent(key) ? this.find(key) : undefined
      if (log === undefined) return
      log.until = now + this.retention
      this.finished.add(log)
      this.deadlines.set(this.deadlines.now() + this.retention)
    })
  }

  forget(session: string, epoch?: number): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!this.isCurrent({ session, epoch })) return
      this.epochs.delete(session)
      this.sessions.get(session)?.forEach((log) => this.remove(log))
    })
  }

  /** Whether the epoch is current. From a call with a current epoch on, all smaller epochs of the session are old. */
  private isCurrent({ epoch, session }: Pick<StreamKey, "epoch" | "session">): boolean {
    if (epoch === undefined) return true
    if (epoch < (this.epochs.get(session) ?? 0)) return false
    this.epochs.set(session, epoch)
    return true
  }

  private afterSweep<A>(f: (now: number) => A): Effect.Effect<A> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      this.removeExpired(now)
      return f(now)
    })
  }

  /** Removes the streams whose `retention` has passed. Gives the time of the next check. */
  sweep(now: number): number {
    const wall = EffectInternals.millis(this.clock)
    this.removeExpired(wall)
    const [next] = this.finished
    return next === undefined ? Infinity : now + next.until - wall
  }

  private removeExpired(now: number): void {
    for (const log of this.finished) {
      if (log.until > now) break
      this.remove(log)
    }
  }

  private find({ session, stream }: StreamKey): Log | undefined {
    return this.sessions.get(session)?.get(stream)
  }

  private logOf(key: StreamKey): Log {
    let streams = this.sessions.get(key.session)
    if (streams === undefined) this.sessions.set(key.session, streams = new Map())
    let log = streams.get(key.stream)
    if (log === undefined) {
      streams.set(key.stream, log = { key, requests: [], events: [], dropped: 0, until: Infinity })
      this.size += STREAM
    }
    return log
  }

  private dropFirst(log: Log): void {
    const first = log.events.shift()
    if (first === undefined) return
    log.dropped = first.position
    this.size -= sizeOf(first)
  }

  private dropOldest(): void {
    for (const log of this.logs) {
      this.dropFirst(log)
      // The log of a running stream stays, because it contains the position of the last dropped event.
      if (log.events.length === 0) {
        if (log.until === Infinity) this.logs.delete(log)
        else this.remove(log)
      }
      return
    }
  }

  private remove(log: Log): void {
    const { session, stream } = log.key
    for (const event of log.events) this.size -= sizeOf(event)
    this.size -= STREAM
    this.logs.delete(log)
    this.finished.delete(log)
    const streams = this.sessions.get(session)
    streams?.delete(stream)
    if (streams?.size === 0) this.sessions.delete(session)
  }
}

const sizeOf = ({ data }: StoredEvent): number => data.length + EVENT
