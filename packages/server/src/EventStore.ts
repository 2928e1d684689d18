/**
 * What was said on the streams of a session, kept so that a client whose connection was cut can have what it missed. With
 * one of these streams can be resumed; without one, what a lost connection carried is lost.
 *
 * This is the interface for stores of any kind, and a store in memory. Positions and their order are made by who appends.
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

/**
 * @since 0.1.0
 * @category models
 */
export interface StoredEvent {
  /** At least 1, and greater than that of the event before it on the same stream. */
  readonly position: number
  /** The text of a message. */
  readonly data: string
}

/**
 * A stream of a session. Both are needed wherever one is: the streams of all sessions have the same names.
 *
 * @since 0.1.0
 * @category models
 */
export interface StreamKey {
  readonly session: string
  readonly stream: string
}

/**
 * None of these fails: a store that has lost its mind should give up what it keeps, and the client is told that it cannot
 * resume. For one stream they are run one after another, never at the same time.
 *
 * @since 0.1.0
 * @category models
 */
export interface EventStoreService {
  /** Keeps an event. It is delivered when this has ended. */
  readonly append: (key: StreamKey, event: StoredEvent) => Effect.Effect<void>
  /**
   * All events after this position, which need not be that of an event, in order; after `-1`, all that are left. `None`
   * when the stream is unknown, or events after this position have been dropped.
   */
  readonly after: (key: StreamKey, position: number) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>>
  /** No more will be appended to this stream; it may be dropped in a while. */
  readonly finish: (key: StreamKey) => Effect.Effect<void>
  /** The session has ended: all its streams are to be dropped. */
  readonly forget: (session: string) => Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class EventStore extends Context.Tag("@effect-mcp/server/EventStore")<EventStore, EventStoreService>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface MemoryOptions {
  /** Events of one stream; then the oldest go. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /** Characters of all streams together; then the oldest go, of the streams that were used least recently. Default: 64 Mi. */
  readonly maxSize?: number | undefined
  /** How long the stream of a request is kept after its answer. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
}

/**
 * A store in memory. Everything in it is gone with the process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<EventStoreService> =>
  Effect.sync(() => new Memory(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: MemoryOptions): Layer.Layer<EventStore> =>
  Layer.effect(EventStore, memory(options))

interface Log {
  readonly key: StreamKey
  events: Array<StoredEvent>
  /** The position of the last event that was dropped. */
  dropped: number
  /** When it may go, in milliseconds. */
  until: number
}

// What an event and a stream cost beside the text, about.
const EVENT = 64
const STREAM = 512

class Memory implements EventStoreService {
  private readonly sessions = new Map<string, Map<string, Log>>()
  /** The one used least recently first. */
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
      while (this.size > this.maxSize && this.logs.size > 0) this.makeRoom()
    })
  }

  after(key: StreamKey, position: number): Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>> {
    return this.swept(() => {
      const log = this.find(key)
      if (log === undefined || (position >= 0 && position < log.dropped)) return Option.none()
      return Option.some(log.events.filter((event) => event.position > position))
    })
  }

  finish(key: StreamKey): Effect.Effect<void> {
    return this.swept((now) => {
      const log = this.find(key)
      if (log === undefined) return
      log.until = now + this.retention
      this.finished.add(log)
    })
  }

  forget(session: string): Effect.Effect<void> {
    return Effect.sync(() => this.sessions.get(session)?.forEach((log) => this.remove(log)))
  }

  private swept<A>(f: (now: number) => A): Effect.Effect<A> {
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

  private makeRoom(): void {
    for (const log of this.logs) {
      this.dropFirst(log)
      // Empty, it still says what was dropped, as long as more may come.
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
