/**
 * The messages of one stream of a session, whether a reader is attached or not. With an event store each event is stored
 * before it is written, and a client that lost its connection reads on where it stopped. `Post` and `Standalone` push
 * messages; `Http` resumes.
 *
 * The fields are mutable because each message of a handler passes here; one synchronous push costs no fiber. What they
 * hold: `delivered` <= `last`, both only grow (but for a client that resumes further back); without a store an event
 * exists only on `response`; one reader replays at a time, and a newer one ends it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { EventStoreService, StoredEvent, StreamKey } from "../EventStore.js"
import type { EventStream } from "../http/EventStream.js"
import type { Headers, HttpExchange } from "../http/HttpExchange.js"
import * as EventId from "./EventId.js"
import type { HttpContext } from "./HttpContext.js"
import { SerialQueue } from "./SerialQueue.js"

/** Opens the response that the stream is read on, unless the client has disconnected. */
export type Open = () => EventStream | undefined

type StoredEvents = Option.Option<ReadonlyArray<StoredEvent>>

export class ResumableStream {
  /** The response that the stream is read on. */
  response: EventStream | undefined
  private readonly store: EventStoreService | undefined
  /** Everything that waits for the store. */
  private readonly storing: SerialQueue | undefined
  /** The position of the last event. */
  private last = 0
  /** The position of the last event that a reader got. */
  private delivered = 0
  /** Whether stored events wait for a slow reader. */
  private replaying = false
  /** How many readers have come; the last one replaces those before. */
  private readers = 0
  private finished = false
  private stopped = false

  constructor(
    private readonly context: HttpContext,
    /** The key of the stream in the event store; none when its events are not stored. */
    readonly key: StreamKey | undefined,
    /** Called when the stream has no reader, and none is about to come. */
    private readonly onIdle?: () => void
  ) {
    this.store = key === undefined ? undefined : context.events
    this.storing = this.store === undefined
      ? undefined
      : new SerialQueue(context.runtime, context.options.capacity, () => this.idle())
  }

  /** A stream that has finished, and whose events are still stored. */
  static stored(context: HttpContext, key: StreamKey, onIdle: () => void): ResumableStream {
    const stream = new ResumableStream(context, key, onIdle)
    stream.last = Infinity
    stream.finished = true
    return stream
  }

  /** Whether a client that lost its connection can read on. */
  get isResumable(): boolean {
    return this.store !== undefined
  }

  /** Whether a message that is pushed now reaches a reader, now or later. */
  get isReadable(): boolean {
    return this.response !== undefined || this.isResumable
  }

  /** What a sender waits for before it pushes more; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    if (this.response?.isFull === true) return this.response.space
    return this.storing?.isFull === true ? this.storing.space : undefined
  }

  /** Stores and writes the text of a message; `false` when no reader can get it. */
  push(text: string): boolean {
    const { store } = this
    if (store === undefined) return this.response !== undefined && this.response.push(frame(text))
    const event = { position: ++this.last, data: text }
    this.storing!.add(Effect.tapErrorCause(store.append(this.key!, event), logFailure), () => this.deliver(event))
    return true
  }

  /**
   * Attaches a reader, which continues where the last one stopped. `prime` sends an event first that names a
   * position, so that the client can resume before there is a message.
   */
  attach(open: Open, prime: boolean): void {
    const { store } = this
    if (store === undefined) {
      this.response = open()
      return
    }
    const missed = Effect.suspend((): Effect.Effect<StoredEvents> =>
      this.delivered === this.last ? noEvents : Effect.flatMap(
        store.after(this.key!, this.delivered),
        (events) => Option.isSome(events) ? Effect.succeed(events) : store.after(this.key!, -1)
      )
    )
    const reader = ++this.readers
    this.storing!.add(Effect.flatMap(orNone(missed), (found) => {
      const events = Option.getOrElse(found, () => [])
      this.replaceResponse(open)
      // Missed events have positions of their own; a position is never given out twice.
      if (prime) this.prime(events.length === 0 ? this.delivered = ++this.last : undefined)
      return this.replay(events, reader)
    }))
  }

  /** Attaches a reader, which continues after a position; the reader before it is disconnected. */
  resume(position: number, open: Open, refuse: () => void): void {
    if (this.store === undefined || position > this.last) return refuse()
    const reader = ++this.readers
    if (this.replaying) this.response?.cut()
    const missed = position === this.last ? noEvents : orNone(this.store.after(this.key!, position))
    this.storing!.add(Effect.flatMap(missed, (events) => {
      if (Option.isNone(events) || this.stopped) return Effect.sync(refuse)
      this.replaceResponse(open)
      this.delivered = position
      return this.replay(events.value, reader)
    }))
  }

  /** Opens a response to this request for `attach` and `resume`, which is detached when it closes. */
  opening(exchange: HttpExchange, headers?: Headers): Open {
    return () => {
      if (exchange.isGone) return undefined
      const response = this.context.stream(exchange, () => this.detach(response), headers)
      return response
    }
  }

  /** The response has closed: unless a newer one has replaced it, the stream has no reader. */
  detach(response: EventStream): void {
    if (this.response !== response) return
    this.response = undefined
    if (this.storing?.isRunning === false) this.idle()
  }

  /** The session has ended: a reader that replays stored events gets no more of them. */
  stop(): void {
    this.stopped = true
    if (this.replaying || this.finished) this.response?.end()
  }

  /** Ends the response while more messages are to come; the client reconnects after `retry`. */
  pause(): void {
    this.afterStoring(() => {
      this.response?.push(Sse.encode({ retry: this.context.options.retry }))
      this.response?.end()
    })
  }

  /** Ends the stream and its response after all that was pushed. */
  finish(onFinished: () => void): void {
    const end = () => {
      this.finished = true
      this.response?.end()
      onFinished()
    }
    if (this.store === undefined) end()
    else this.storing!.add(Effect.tapErrorCause(this.store.finish(this.key!), logFailure), end)
  }

  private afterStoring(act: () => void): void {
    if (this.storing?.isRunning === true) this.storing.add(Effect.void, act)
    else act()
  }

  private idle(): void {
    if (this.response === undefined) this.onIdle?.()
  }

  /** Replaces the response, without waiting for a reader that takes nothing. */
  private replaceResponse(open: Open): void {
    this.response?.end()
    this.response?.cut()
    this.response = open()
  }

  /** Writes stored events, as fast as the reader takes them, until the next reader comes. */
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
        this.deliver(events[at]!)
      }
      this.replaying = false
      if (this.finished) response?.end()
      return Effect.void
    })
  }

  private deliver({ data, position }: StoredEvent): void {
    if (this.response === undefined) return
    const id = EventId.encode(this.key!.session, this.key!.stream, position)
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

const noEvents: Effect.Effect<StoredEvents> = Effect.succeed(Option.some([]))

const logFailure = (cause: Cause.Cause<never>): Effect.Effect<void> => Effect.logError("The event store failed", cause)

// When the store fails, earlier events are lost; the stream continues.
const orNone = (effect: Effect.Effect<StoredEvents>): Effect.Effect<StoredEvents> =>
  Effect.catchAllCause(effect, (cause) => Effect.as(logFailure(cause), Option.none()))

/** The event that carries a message. The JSON text of a message has no line breaks. */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`
