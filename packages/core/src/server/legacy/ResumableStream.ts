/**
 * The readers of one stream of a session. At most one reader is attached at a time. With an event store (`StreamStore`) each event is
 * stored before it is written, so a client that has lost its connection can continue after the last event that it got. `Post` and
 * `Standalone` push messages; `Http` resumes streams.
 *
 * The fields are mutable for speed: each message of a handler goes through this module, and a synchronous push needs no fiber. `delivered`
 * only grows, except when a client resumes from an earlier event. Without an event store, `response` is the only place where an event
 * exists. Only one reader at a time gets a replay of stored events. When a newer reader comes, the replay for the older reader ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sse from "../../jsonrpc/Sse.js"
import type { EventStoreError, StoredEvent, StreamKey } from "../EventStore.js"
import type { Admitted, Headers } from "../http/HttpExchange.js"
import type { EventStream } from "../http/StreamedAnswer.js"
import * as Metrics from "../telemetry/Metrics.js"
import * as EventId from "./EventId.js"
import type { HttpContext } from "./HttpContext.js"
import type { ReaderNotes } from "./ReaderNotes.js"
import { logDefect, StreamStore } from "./StreamStore.js"

/** A client that wants to read the stream. */
export interface Reader {
  readonly exchange: Admitted
  /** Opens the response on which the stream is read; `undefined` when it has refused the client. */
  readonly open: () => EventStream | undefined
}

export class ResumableStream {
  /** The response on which the stream is read now; `undefined` without a reader. */
  response: EventStream | undefined
  /** Where the events of the stream are stored; `undefined` when they are not stored. */
  readonly store: StreamStore | undefined
  /** What the next node will know of the readers; `undefined` when the next node does not need to know it. */
  notes: ReaderNotes | undefined
  /** The position of the last event that a reader got. */
  private delivered: number
  /** Whether stored events wait for a slow reader. */
  private replaying = false
  /** How many readers have come. The last reader replaces the earlier readers. */
  private readers = 0
  private finished = false
  private stopped = false

  constructor(
    private readonly context: HttpContext,
    /** The key of the stream in the event store; `undefined` when its events are not stored. */
    readonly key: StreamKey | undefined,
    /** Called when the stream has no reader, and no reader is about to come. */
    private readonly onIdle?: () => void,
    /** Called when the store has refused the stream or an event, because another node serves the session. */
    onStale?: () => void
  ) {
    const { events } = context
    this.delivered = EventId.before(key?.epoch)
    this.store = key === undefined || events === undefined
      ? undefined
      : new StreamStore(context, events, key, () => this.idle(), onStale)
  }

  /** A stream that has finished and whose events are still stored. */
  static stored(context: HttpContext, key: StreamKey, onIdle: () => void): ResumableStream {
    const stream = new ResumableStream(context, key, onIdle)
    if (stream.store !== undefined) {
      stream.store.last = Infinity
      stream.store.hasFinished = true
    }
    stream.finished = true
    return stream
  }

  /** Whether a client that lost its connection can continue to read. */
  get isResumable(): boolean {
    return this.store !== undefined
  }

  /** Whether a message that is pushed now can reach a reader, now or later. */
  get isReadable(): boolean {
    return this.response !== undefined || this.isResumable
  }

  /** Whether no reader reads now. */
  get isUnread(): boolean {
    return this.response === undefined
  }

  /** A sender waits for this effect before it pushes more; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.response?.congestion ?? this.store?.congestion
  }

  /** Stores and writes the text of a message. Gives `false` when no reader can get it. With `isLast`, no other message follows. */
  push(text: string, isLast = false): boolean {
    const { store } = this
    if (store === undefined) return this.response !== undefined && this.response.push(frame(text))
    store.append(text, isLast, (event, isRefused) => {
      // When the store got this event together with an earlier event, a reader that came since may have the event already.
      if (event.position > this.delivered) this.deliver(event, !isRefused)
    })
    return true
  }

  /**
   * Attaches a reader, which continues where the last reader stopped. With `prime`, it first sends an event that only names a position, so
   * that the client can resume before there is a message. When the store does not answer, it calls `refuse`. Without `refuse`, the reader
   * then continues with the next message.
   */
  attach(reader: Reader, prime: boolean, refuse?: () => void): void {
    const { store } = this
    if (store === undefined) {
      this.open(reader)
      return
    }
    const { last } = store
    // The position is taken now, so that messages which are pushed before the store has answered come after it. No position is given out
    // twice.
    const primed = prime ? ++store.last : undefined
    const number = ++this.readers
    const missed = Effect.suspend(() =>
      // The earlier reader may have read the note meanwhile, or the session may have ended.
      Effect.flatMap(this.notes?.isUnread === true ? this.notes.read : Effect.succeed(this.delivered), (position) => {
        this.delivered = position
        return position >= last ? noEvents : store.left(position)
      })
    )
    const begin = (events: ReadonlyArray<StoredEvent>) => {
      const replayed = Effect.suspend(() => {
        if (!this.open(reader)) return Effect.void
        if (primed !== undefined) {
          // Missed events have positions of their own.
          if (events.length === 0) this.delivered = primed
          // A stream that the store has refused could not be found by any other node.
          if (!store.isStale) this.prime(events.length === 0 ? primed : undefined)
        }
        return this.replay(events, number)
      })
      // This node may end in between. A client that has received a missed event can then name it; a client without an event cannot.
      const isNoted = events.length === 0
      const noted = isNoted && this.notes !== undefined ? this.notes.attached : Effect.void
      const begun = Effect.zipRight(primed === undefined ? noted : Effect.zipRight(store.opened, noted), replayed)
      return Effect.zipRight(begun, this.note(isNoted))
    }
    const onFailure = (cause: Cause.Cause<EventStoreError>) =>
      Effect.zipRight(logDefect(cause), refuse === undefined ? begin([]) : Effect.sync(refuse))
    this.unlessGone(reader, Effect.matchCauseEffect(missed, { onFailure, onSuccess: begin }))
  }

  /**
   * Attaches a reader, which continues after a position, and disconnects the earlier reader. Calls `refuse` when the events are not stored.
   * It calls `refuse` with `true` when the client may try again, because the store did not answer or because another node has the stream.
   */
  resume(position: number, reader: Reader, refuse: (mayRetry: boolean) => void): void {
    const { store } = this
    if (store === undefined || position > store.last) return refuse(store?.isOfNextNode(position) === true)
    const number = ++this.readers
    if (this.replaying) this.response?.cut()
    const missed = position === store.last ? Effect.asSome(noEvents) : store.after(position)
    this.unlessGone(
      reader,
      Effect.matchCauseEffect(missed, {
        onFailure: (cause) => Effect.map(logDefect(cause), () => refuse(true)),
        onSuccess: (events) => {
          // A stream that has stopped belongs to another node, or its session has ended.
          const isAway = this.stopped || store.isStale
          if (Option.isNone(events) || isAway) return Effect.sync(() => refuse(isAway))
          if (!this.open(reader)) return Effect.void
          this.delivered = position
          if (this.notes !== undefined) this.notes.isUnread = false
          return Effect.zipRight(this.replay(events.value, number), this.note())
        }
      })
    )
  }

  /**
   * Makes the reader that `attach` and `resume` get, for this request. When its response closes, the reader is detached. `onInvalid` runs
   * when the user of the request is no longer valid. Without `onInvalid` the user is not checked again.
   */
  opening(exchange: Admitted, headers?: Headers, onInvalid?: (response: EventStream) => void): Reader {
    return {
      exchange,
      open: () => {
        const response = this.context.stream(exchange, () => this.detach(response), headers, onInvalid)
        return response
      }
    }
  }

  /** Runs an effect for a reader after the store's earlier operations, unless the client of the reader has disconnected. */
  private unlessGone({ exchange }: Reader, effect: Effect.Effect<void>): void {
    this.store!.queue.add(() => exchange.isGone ? undefined : effect)
  }

  /** The response has closed. The stream has no reader then, unless a newer response has replaced this one. */
  detach(response: EventStream): void {
    if (this.response !== response) return
    this.response = undefined
    if (this.notes?.isUnread === false) {
      const note = this.note()
      this.store?.queue.add(() => note)
    }
    if (!this.isStoring) this.idle()
  }

  /** The session has ended. A reader that gets stored events gets no more of them. */
  stop(): void {
    this.stopped = true
    if (this.replaying || this.finished) this.response?.end()
  }

  /** Ends the response although more messages will come. The client reconnects after `retry`. */
  pause(): void {
    this.afterStoring(() => {
      this.response?.push(Sse.encode({ retry: this.context.options.retry }))
      this.response?.end()
    })
  }

  /** Ends the stream and its response after everything that was pushed. */
  finish(onFinished: () => void): void {
    const end = () => {
      this.finished = true
      this.response?.end()
      onFinished()
    }
    if (this.store === undefined) end()
    else this.store.finish(end)
  }

  /** Waits until the store has everything that was pushed. */
  get stored(): Effect.Effect<void> {
    return Effect.async((resume) => this.afterStoring(() => resume(Effect.void)))
  }

  /** Whether the store does not have everything yet that was pushed. */
  get isStoring(): boolean {
    return this.store?.queue.isRunning === true
  }

  /** Whether nothing more happens on the stream, except that a client may resume it. */
  get isSettled(): boolean {
    return this.finished && !this.isStoring
  }

  private afterStoring(act: () => void): void {
    if (this.store === undefined) act()
    else this.store.queue.add(() => undefined, act)
  }

  /** Notes for the next node what readers have received. It also learns whether another node already serves the session. */
  private note(isAttachedNoted = false): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { delivered, notes, response, store } = this
      const noted = notes === undefined || (isAttachedNoted && response !== undefined)
        ? Effect.void
        : response === undefined
        ? notes.write(delivered)
        : notes.attached
      return Effect.map(noted, () => store!.reportStale())
    })
  }

  private idle(): void {
    if (this.response === undefined) this.onIdle?.()
  }

  /**
   * Opens a response, and ends the earlier response without waiting for a reader that takes nothing. Gives `false` when the client has
   * disconnected or was refused; the earlier reader then stays.
   */
  private open({ exchange, open }: Reader): boolean {
    const response = exchange.isGone ? undefined : open()
    if (response === undefined) return false
    const before = this.response
    this.response = response
    before?.end()
    before?.cut()
    return true
  }

  /** Writes stored events as fast as the reader takes them, until another reader comes. */
  private replay(events: ReadonlyArray<StoredEvent>, reader: number, from = 0): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { response } = this
      for (let at = from; at < events.length && response?.isClosed === false; at++) {
        if (response.isFull) {
          if (reader !== this.readers) {
            response.cut()
            break
          }
          this.replaying = true
          return Effect.zipRight(response.space, this.replay(events, reader, at))
        }
        this.deliver(events[at]!, true)
        Metrics.add(Metrics.replayed)
      }
      this.replaying = false
      if (this.finished) response?.end()
      return Effect.void
    })
  }

  /** Writes an event. An event that the store has refused is written without an id, because no node could resume the stream from it. */
  private deliver({ data, position }: StoredEvent, isStored: boolean): void {
    if (this.response === undefined) return
    const id = isStored ? EventId.encode(this.key!.session, this.key!.stream, position) : undefined
    if (this.response.push(frame(data, id))) this.delivered = Math.max(this.delivered, position)
  }

  private prime(position: number | undefined): void {
    const { session, stream } = this.key!
    const { retry } = this.context.options
    this.response?.push(Sse.encode(
      position === undefined ? { retry } : { id: EventId.encode(session, stream, position), retry, data: "" }
    ))
  }
}

/** The user of the reader is no longer valid. The response ends, and the client opens the stream again, with other credentials. */
export const endNow = (response: EventStream): void => response.endNow()

const noEvents: Effect.Effect<ReadonlyArray<StoredEvent>> = Effect.succeed([])

/** The text of the event that carries a message. The JSON text of a message has no line breaks. */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`
