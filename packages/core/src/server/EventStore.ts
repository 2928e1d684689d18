/**
 * The events that a server has sent on the streams of a session, stored so that a client that lost its connection can read what it missed.
 * Provide a store to an HTTP endpoint, and clients of the legacy revisions can resume their streams; without a store, the events of a lost
 * connection are lost.
 *
 * This module has the interface, for stores of any kind, and a store in memory. The endpoint numbers the events (`legacy/StreamStore`).
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
  /** At least 1, and greater than the position of the event before it on the same stream. */
  readonly position: number
  /** The JSON text of a message. */
  readonly data: string
}

/**
 * Identifies a stream. The streams of all sessions have the same names, so the session is part of the key.
 *
 * @category models
 */
export interface StreamKey {
  readonly session: string
  readonly stream: string
  /**
   * The epoch of the session in the `SessionDirectory`, where several nodes serve sessions: in a shared store, an operation of an epoch
   * that is over changes nothing. The epoch is not a part of the identity.
   */
  readonly epoch?: number | undefined
}

/**
 * The store did not answer: nothing is known of the stream. The client gets 503, and tries again.
 *
 * @category errors
 */
export class EventStoreError extends Data.TaggedError("EventStoreError")<{ readonly message: string }> {}

/**
 * The operations of a store. Operations that write never fail: after a failure a store drops the event, and `after` returns `None`; then
 * the client learns that it cannot resume. The endpoint runs the operations on one stream one after another.
 *
 * @category models
 */
export interface EventStoreService {
  /**
   * A stream begins that will answer these requests. For a stream that answers no requests, the endpoint stores a number in place of the
   * requests, and changes the number by opening the stream again. `false` when the epoch of the key is over: then the stream does not
   * begin. A stream whose events all come together, in one `appendAll`, is not opened before.
   */
  readonly open: (key: StreamKey, requests: ReadonlyArray<RequestId>) => Effect.Effect<boolean>
  /** The requests of a stream that has not finished; for any other stream, none. */
  readonly unfinished: (key: StreamKey) => Effect.Effect<ReadonlyArray<RequestId>, EventStoreError>
  /**
   * Stores an event. The event is sent to the client when this has ended. `false` when the epoch of the key is over: then the
   * event is not stored, and another node serves the session.
   */
  readonly append: (key: StreamKey, event: StoredEvent) => Effect.Effect<boolean>
  /**
   * Stores events in order, as one `append` after another would, and finishes the stream after them if `isLast` is true. A store with this
   * function gets all events together that were sent while it stored the events before; a store without it gets events one by one.
   */
  readonly appendAll?: (
    key: StreamKey,
    events: ReadonlyArray<StoredEvent>,
    isLast: boolean
  ) => Effect.Effect<boolean>
  /**
   * The events after a position, in order; after `-1`, all that are stored. There need not be an event at the position.
   * `None` when the stream is unknown, or when an event after the position has been dropped.
   */
  readonly after: (
    key: StreamKey,
    position: number
  ) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, EventStoreError>
  /** No more events follow on this stream: the store may drop it after a while. */
  readonly finish: (key: StreamKey) => Effect.Effect<void>
  /** The session has ended: drops all its streams, unless its epoch is over. */
  readonly forget: (session: string, epoch?: number) => Effect.Effect<void>
}

/** @category tags */
export class EventStore extends Context.Tag("@effect-mcp/core/EventStore")<EventStore, EventStoreService>() {}

/** @category models */
export interface MemoryOptions {
  /** The limit of events of one stream; then the oldest are dropped. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /**
   * The limit of characters of all streams together; beyond it the oldest events are dropped, first the events of the stream that was used
   * least recently. Default: 64 Mi (67,108,864).
   */
  readonly maxSize?: number | undefined
  /** How long the stream of a request is stored after its response. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
}

/**
 * A store in memory: its events are lost when the process ends. A timer removes the streams whose `retention` has passed, also while
 * nobody uses the store; it ends with the scope.
 *
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<EventStoreService, never, Scope.Scope> =>
  Effect.zipWith(Deadlines.make(SWEEP), Effect.clock, (deadlines, clock) => new Memory(options, deadlines, clock))

/** The least time between two looks for streams whose `retention` has passed, in milliseconds. */
const SWEEP = 1000

/**
 * `layerMemory` with options.
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
  /** When it may be dropped, in milliseconds; `Infinity` before it has finished. */
  until: number
}

// Roughly what an event and a stream cost besides the text, in characters.
const EVENT = 64
const STREAM = 512

/**
 * Mutable maps, because each event of a resumable stream passes `append`: a `Ref` of immutable maps would copy for each. `size` is the sum
 * of `sizeOf` over all events and `STREAM` over all logs; `sessions` and `logs` hold the same logs, with one exception: a running stream
 * without events, because none came yet or all were dropped, is in `sessions` alone.
 */
class Memory implements EventStoreService, Deadlines.Expirable {
  private readonly sessions = new Map<string, Map<string, Log>>()
  /** In the order of their last event, the oldest first. */
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

  /** Whether the epoch is not over. From then on, all epochs before it are over. */
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

  /** Removes the streams whose retention has passed. Gives when to look again. */
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
      // The log of a running stream stays: it holds the position of the last event that was dropped.
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
