/**
 * One stream of a session, and its reader: an HTTP response on which a client reads the stream. At most one reader is attached at a time.
 * With an event store (`StreamStore`), this object stores each event before it writes the event. So a client that has lost its connection
 * can continue after the last event that the client has received. `Post` and `Standalone` push messages, and `Http` resumes streams.
 *
 * The fields are mutable for speed: each message of a handler passes through this module, and a synchronous push needs no fiber.
 * `delivered` is the position of the last event that a reader got. It becomes smaller only when a client resumes from an earlier event.
 * `readers` counts the readers, so that an older reader gets no more stored events after a newer reader has come. Without an event store,
 * this object writes each event only to `response`.
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
  /** Opens the response for the stream. Gives `undefined` when this function has refused the client. */
  readonly open: () => EventStream | undefined
}

export class ResumableStream {
  /** The response of the current reader; `undefined` without a reader. */
  response: EventStream | undefined
  /** Stores the events of the stream; `undefined` when the events are not stored. */
  readonly store: StreamStore | undefined
  /**
   * Stores up to which position readers have received events, for the next node of the session; `undefined` when the next node does not
   * need this.
   */
  notes: ReaderNotes | undefined
  /** The position of the last event that a reader got. */
  private delivered: number
  /** Whether stored events wait for a slow reader. */
  private replaying = false
  /** How many readers there have been. The last reader replaces the earlier readers. */
  private readers = 0
  private finished = false
  private stopped = false

  constructor(
    private readonly context: HttpContext,
    /** The key of the stream in the event store; `undefined` when the events are not stored. */
    readonly key: StreamKey | undefined,
    /** Called when the stream has no reader, and no reader is being attached. */
    private readonly onIdle?: () => void,
    /** Called when the event store has refused the stream or an event, because another node serves the session. */
    onStale?: () => void
  ) {
    const { events } = context
    this.delivered = EventId.before(key?.epoch)
    this.store = key === undefined || events === undefined
      ? undefined
      : new StreamStore(context, events, key, () => this.idle(), onStale)
  }

  /** Makes the object for a finished stream whose events are still stored. */
  static stored(context: HttpContext, key: StreamKey, onIdle: () => void): ResumableStream {
    const stream = new ResumableStream(context, key, onIdle)
    if (stream.store !== undefined) {
      stream.store.last = Infinity
      stream.store.hasFinished = true
    }
    stream.finished = true
    return stream
  }

  /** Whether a client that has lost its connection can continue to read. */
  get isResumable(): boolean {
    return this.store !== undefined
  }

  /** Whether a message that the server pushes now can reach a reader, now or later. */
  get isReadable(): boolean {
    return this.response !== undefined || this.isResumable
  }

  /** Whether there is no reader now. */
  get isUnread(): boolean {
    return this.response === undefined
  }

  /** A sender must wait for this effect before it pushes more; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.response?.congestion ?? this.store?.congestion
  }

  /** Stores and writes the text of a message. Gives `false` when no reader can get the message. With `isLast`, no other message follows. */
  push(text: string, isLast = false): boolean {
    const { store } = this
    if (store === undefined) return this.response !== undefined && this.response.push(frame(text))
    store.append(text, isLast, (event, isRefused) => {
      // When the store got this event together with an earlier event, a newer reader may already have the event.
      if (event.position > this.delivered) this.deliver(event, !isRefused)
    })
    return true
  }

  /**
   * Attaches a reader, which continues where the last reader stopped. With `prime`, the reader first gets an event that contains only an
   * id, so that the client can resume even when it has received no message. When the store does not answer, this function calls `refuse`.
   * If the caller gives no `refuse`, the reader instead skips the stored events, and continues with the next message.
   */
  attach(reader: Reader, prime: boolean, refuse?: () => void): void {
    const { store } = this
    if (store === undefined) {
      this.open(reader)
      return
    }
    const { last } = store
    // Takes the position now. Messages that are pushed before the store has answered get later positions. No position is used twice.
    const primed = prime ? ++store.last : undefined
    const number = ++this.readers
    const missed = Effect.suspend(() =>
      // This code checks the note as late as possible. An earlier reader may already have caused the reading of the note, or the session
      // may have ended.
      Effect.flatMap(this.notes?.isUnread === true ? this.notes.read : Effect.succeed(this.delivered), (position) => {
        this.delivered = position
        return position >= last ? noEvents : store.left(position)
      })
    )
    const begin = (events: ReadonlyArray<StoredEvent>) => {
      const replayed = Effect.suspend(() => {
        if (!this.open(reader)) return Effect.void
        if (primed !== undefined) {
          // Missed events already have positions.
          if (events.length === 0) this.delivered = primed
          // When the store has refused the stream, no other node could find the stream.
          if (!store.isStale) this.prime(events.length === 0 ? primed : undefined)
        }
        return this.replay(events, number)
      })
      // This node may end before it has stored the note. A client that has received missed events can then name the last of these events. A
      // client that has received no event cannot do this, so for such a client this code first stores the note.
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
   * Attaches a reader, which continues after a position, and disconnects the earlier reader. Calls `refuse` when the events are not
   * available. The argument of `refuse` is `true` when the client may try again, because the store did not answer or because another node
   * has the stream.
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
          // When the stream has stopped, another node serves the session, or the session has ended.
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
   * Makes a reader from an HTTP request, for `attach` and `resume`. When the response closes, the reader is detached. `onInvalid` runs when
   * the user of the request is no longer valid. Without `onInvalid`, nobody checks the user again.
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

  /**
   * Runs an effect for a reader after the earlier operations of the store. Does not run the effect when the client of the reader has
   * disconnected.
   */
  private unlessGone({ exchange }: Reader, effect: Effect.Effect<void>): void {
    this.store!.queue.add(() => exchange.isGone ? undefined : effect)
  }

  /** The response has closed. Detaches the reader, if no newer response has replaced this response. */
  detach(response: EventStream): void {
    if (this.response !== response) return
    this.response = undefined
    if (this.notes?.isUnread === false) {
      const note = this.note()
      this.store?.queue.add(() => note)
    }
    if (!this.isStoring) this.idle()
  }

  /** The session has ended. A reader that is getting stored events gets no more events. */
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

  /** Ends the stream and its response after all pushed messages. */
  finish(onFinished: () => void): void {
    const end = () => {
      this.finished = true
      this.response?.end()
      onFinished()
    }
    if (this.store === undefined) end()
    else this.store.finish(end)
  }

  /** Waits until the store has all pushed messages. */
  get stored(): Effect.Effect<void> {
    return Effect.async((resume) => this.afterStoring(() => resume(Effect.void)))
  }

  /** Whether the store is still storing pushed messages. */
  get isStoring(): boolean {
    return this.store?.queue.isRunning === true
  }

  /** Whether the stream is complete. A client may still resume the stream. */
  get isSettled(): boolean {
    return this.finished && !this.isStoring
  }

  private afterStoring(act: () => void): void {
    if (this.store === undefined) act()
    else this.store.queue.add(() => undefined, act)
  }

  /**
   * Stores for the next node up to which position readers have received events. Also finds out whether another node already serves the
   * session.
   */
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
   * Opens the response of a new reader, and then ends the response of the earlier reader without waiting for the earlier client. Gives
   * `false` when the new client has disconnected, or when the function `open` of the new reader has refused the new client. In these two
   * cases the earlier reader stays attached.
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

  /** Writes stored events as fast as the client reads them, until another reader comes. */
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

  /**
   * Writes an event to the reader. If the store has refused the event, this function writes the event without an id, because no node could
   * resume the stream after this event.
   */
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

/** Ends the response of a reader whose user is no longer valid. The client can open the stream again, with other credentials. */
export const endNow = (response: EventStream): void => response.endNow()

const noEvents: Effect.Effect<ReadonlyArray<StoredEvent>> = Effect.succeed([])

/** Makes the text of the server-sent event for a message. The JSON text of a message has no line breaks. */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`
