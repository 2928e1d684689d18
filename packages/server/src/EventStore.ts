/**
 * The events that a server has sent on the streams of a session, stored so that a client that lost its connection can read
 * what it missed. Provide one to an HTTP endpoint, and clients of the legacy revisions can resume their streams; without
 * one, the events of a lost connection are lost.
 *
 * This module has the interface, for stores of any kind, and a store in memory. The endpoint numbers the events.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

export interface StoredEvent {
  /** At least 1, and greater than the position of the event before it on the same stream. */
  readonly position: number
  /** The JSON text of a message. */
  readonly data: string
}

/** Identifies a stream. The streams of all sessions have the same names, so the session is part of the key. */
export interface StreamKey {
  readonly session: string
  readonly stream: string
}

/**
 * The operations of a store. None fails: after an internal failure a store drops its events, and `after` returns `None`;
 * then the client learns that it cannot resume. The endpoint runs the operations on one stream one after another.
 */
export interface EventStoreService {
  /** Stores an event. The event is sent to the client when this has ended. */
  readonly append: (key: StreamKey, event: StoredEvent) => Effect.Effect<void>
  /**
   * The events after a position, in order; after `-1`, all that are stored. There need not be an event at the position.
   * `None` when the stream is unknown, or when an event after the position has been dropped.
   */
  readonly after: (key: StreamKey, position: number) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>>
  /** No more events follow on this stream: the store may drop it after a while. */
  readonly finish: (key: StreamKey) => Effect.Effect<void>
  /** The session has ended: drops all its streams. */
  readonly forget: (session: string) => Effect.Effect<void>
}

export class EventStore extends Context.Tag("@effect-mcp/server/EventStore")<EventStore, EventStoreService>() {}

export interface MemoryOptions {
  /** The limit of events of one stream; then the oldest are dropped. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /**
   * The limit of characters of all streams together; then the oldest events are dropped, first those of the stream that was
   * used least recently. Default: 64 Mi (67,108,864).
   */
  readonly maxSize?: number | undefined
  /** How long the stream of a request is stored after its response. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
}

/** A store in memory: its events are lost when the process ends. */
export const memory = (options: MemoryOptions = {}): Effect.Effect<EventStoreService> =>
  Effect.sync(() => new Memory(options))

export const layerMemory = (options?: MemoryOptions): Layer.Layer<EventStore> =>
  Layer.effect(EventStore, memory(options))

interface Log {
  readonly key: StreamKey
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
 * Mutable maps, because each event of a resumable stream passes `append`: a `Ref` of immutable maps would copy for each.
 * `size` is the sum of `sizeOf` over all events and `STREAM` over all logs; `sessions` and `logs` hold the same logs, but
 * for a running stream whose events were all dropped, which is in `sessions` alone.
 */
class Memory implements EventStoreService {
  private readonly sessions = new Map<string, Map<string, Log>>()
  /** In the order of their last event, the oldest first. */
  private readonly logs = new Set<Log>()
  /** In the order in which they finished. */
  private readonly finished = new Set<Log>()
  private readonly maxEvents: number
  private readonly maxSize: number
  private readonly retention: number
  private size = 0

  constructor(options: MemoryOptions) {
    this.maxEvents = Math.max(1, options.maxEvents ?? 1000)
    this.maxSize = options.maxSize ?? 64 * 1024 * 1024
    this.retention = Duration.toMillis(options.retention ?? "5 minutes")
  }

  append(key: StreamKey, event: StoredEvent): Effect.Effect<void> {
    return Effect.sync(() => {
      const log = this.open(key)
      this.logs.delete(log)
      this.logs.add(log)
      log.events.push(event)
      this.size += sizeOf(event)
      if (log.events.length > this.maxEvents) this.dropFirst(log)
      while (this.size > this.maxSize && this.logs.size > 0) this.dropOldest()
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
      const log = this.find(key)
      if (log === undefined) return
      log.until = now + this.retention
      this.finished.add(log)
    })
  }

  forget(session: string): Effect.Effect<void> {
    return Effect.sync(() => this.sessions.get(session)?.forEach((log) => this.remove(log)))
  }

  private afterSweep<A>(f: (now: number) => A): Effect.Effect<A> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      for (const log of this.finished) {
        if (log.until > now) break
        this.remove(log)
      }
      return f(now)
    })
  }

  private find({ session, stream }: StreamKey): Log | undefined {
    return this.sessions.get(session)?.get(stream)
  }

  private open(key: StreamKey): Log {
    let streams = this.sessions.get(key.session)
    if (streams === undefined) this.sessions.set(key.session, streams = new Map())
    let log = streams.get(key.stream)
    if (log === undefined) {
      streams.set(key.stream, log = { key, events: [], dropped: 0, until: Infinity })
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
