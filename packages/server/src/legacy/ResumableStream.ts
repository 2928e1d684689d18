/**
 * The messages of one stream, whether somebody reads it at the moment or not. Where there is an event store they are kept
 * before they are delivered, so that a reader who was cut off can have what it missed.
 *
 * It knows neither requests nor sessions: who owns it says what goes in and what happens when nobody reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { EventStoreService, StoredEvent, StreamKey } from "../EventStore.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { EventStream } from "../http/EventStream.js"
import * as EventId from "./EventId.js"
import { SerialQueue } from "./SerialQueue.js"

/**
 * Opens the response that a lane is to be read on, if the client is still there. The lane has to be told when it is over.
 *
 * @since 0.1.0
 * @category models
 */
export type Open = () => EventStream | undefined

type Found = Option.Option<ReadonlyArray<StoredEvent>>

/**
 * @since 0.1.0
 * @category models
 */
export class ResumableStream {
  /** The response that it is being read on. */
  attached: EventStream | undefined
  private readonly store: EventStoreService | undefined
  /** What waits for the store, one after another. */
  private readonly steps: SerialQueue | undefined
  /** The position of the last event, and of the last that a reader was given. */
  private last = 0
  private handed = 0
  /** Whether what is past waits for its reader. */
  private replaying = false
  /** How many came to read what is past. */
  private readers = 0
  private finished = false
  private stopped = false

  constructor(
    private readonly site: EndpointContext,
    /** Under which its events are kept, if they are. */
    readonly key: StreamKey | undefined,
    /** Hears that nobody reads it, nor is about to. */
    private readonly onRest?: () => void
  ) {
    this.store = key === undefined ? undefined : site.events
    this.steps = this.store === undefined
      ? undefined
      : new SerialQueue(site.runtime, site.options.capacity, () => this.rest())
  }

  /** The lane of a stream that has finished: it can still be read. */
  static past(site: EndpointContext, key: StreamKey, onRest: () => void): ResumableStream {
    const lane = new ResumableStream(site, key, onRest)
    lane.last = Infinity
    lane.finished = true
    return lane
  }

  /** Whether who was cut off can come back. */
  get isResumable(): boolean {
    return this.store !== undefined
  }

  /** Whether what goes in now reaches somebody, now or later. */
  get isHeard(): boolean {
    return this.attached !== undefined || this.isResumable
  }

  /** What to wait for before more is said; nothing when there is room. */
  get congestion(): Effect.Effect<void> | undefined {
    if (this.attached?.isFull === true) return this.attached.room
    return this.steps?.isFull === true ? this.steps.room : undefined
  }

  /** Takes the text of a message in, whatever waits; `false` when nobody will ever read it. */
  push(text: string): boolean {
    const { store } = this
    if (store === undefined) return this.attached !== undefined && this.attached.push(frame(text))
    const event = { position: ++this.last, data: text }
    this.steps!.add(Effect.tapErrorCause(store.append(this.key!, event), logged), () => this.deliver(event))
    return true
  }

  /**
   * Lets it be read from where the last reader was. A priming event tells the client what to come back with before there
   * is a message.
   */
  attach(open: Open, prime: boolean): void {
    const { store } = this
    if (store === undefined) {
      this.attached = open()
      return
    }
    const missed = Effect.suspend((): Effect.Effect<Found> =>
      this.handed === this.last ? nothing : Effect.flatMap(
        store.after(this.key!, this.handed),
        (events) => Option.isSome(events) ? Effect.succeed(events) : store.after(this.key!, -1)
      )
    )
    const reader = ++this.readers
    this.steps!.add(Effect.flatMap(safely(missed), (found) => {
      const events = Option.getOrElse(found, () => [])
      this.handOver(open)
      // What was missed has ids of its own, and none is given out twice.
      if (prime) this.prime(events.length === 0 ? this.handed = ++this.last : undefined)
      return this.replay(events, reader)
    }))
  }

  /** Lets it be read by who has had everything up to a position; a reader that is there already has to go. */
  resume(position: number, open: Open, refuse: () => void): void {
    if (this.store === undefined || position > this.last) return refuse()
    const reader = ++this.readers
    if (this.replaying) this.attached?.cut()
    const found = position === this.last ? nothing : safely(this.store.after(this.key!, position))
    this.steps!.add(Effect.flatMap(found, (events) => {
      if (Option.isNone(events) || this.stopped) return Effect.sync(refuse)
      this.handOver(open)
      this.handed = position
      return this.replay(events.value, reader)
    }))
  }

  /** The response is over: it is read no longer, unless it is read on another one by now. */
  detach(stream: EventStream): void {
    if (this.attached !== stream) return
    this.attached = undefined
    if (this.steps?.isRunning === false) this.rest()
  }

  /** Its session has ended: whoever is still at what is past gets no more of it. */
  stop(): void {
    this.stopped = true
    if (this.replaying || this.finished) this.attached?.end()
  }

  /** Ends the response while more is to come, and says when to come back for it. */
  pause(): void {
    this.after(() => {
      this.attached?.push(Sse.encode({ retry: this.site.options.retry }))
      this.attached?.end()
    })
  }

  /** Ends the response after everything that was said. Nothing goes in any more. */
  finish(then: () => void): void {
    const end = () => {
      this.finished = true
      this.attached?.end()
      then()
    }
    if (this.store === undefined) end()
    else this.steps!.add(Effect.tapErrorCause(this.store.finish(this.key!), logged), end)
  }

  /** Does it when everything that was said before has been delivered. */
  after(act: () => void): void {
    if (this.steps?.isRunning === true) this.steps.add(Effect.void, act)
    else act()
  }

  private rest(): void {
    if (this.attached === undefined) this.onRest?.()
  }

  /** From the reader that there is to the next one. One that takes nothing is not waited for. */
  private handOver(open: Open): void {
    this.attached?.end()
    this.attached?.cut()
    this.attached = open()
  }

  /** Delivers what is past, as fast as its reader takes it, until the next reader comes. */
  private replay(events: ReadonlyArray<StoredEvent>, reader: number, from = 0): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { attached } = this
      for (let at = from; at < events.length && attached?.isOver === false; at++) {
        if (attached.isFull) {
          if (reader !== this.readers) {
            attached.cut()
            break
          }
          this.replaying = true
          return Effect.zipRight(attached.room, this.replay(events, reader, at))
        }
        this.deliver(events[at]!)
      }
      this.replaying = false
      if (this.finished) attached?.end()
      return Effect.void
    })
  }

  private deliver({ data, position }: StoredEvent): void {
    if (this.attached === undefined) return
    const id = EventId.encode(this.key!.session, this.key!.stream, position)
    if (this.attached.push(frame(data, id))) this.handed = Math.max(this.handed, position)
  }

  private prime(position: number | undefined): void {
    const { session, stream } = this.key!
    const { retry } = this.site.options
    this.attached?.push(Sse.encode(
      position === undefined ? { retry } : { id: EventId.encode(session, stream, position), retry, data: "" }
    ))
  }
}

const nothing: Effect.Effect<Found> = Effect.succeed(Option.some([]))

const logged = (cause: Cause.Cause<never>): Effect.Effect<void> => Effect.logError("The event store failed", cause)

// A store that breaks costs the past, not the present.
const safely = (effect: Effect.Effect<Found>): Effect.Effect<Found> =>
  Effect.catchAllCause(effect, (cause) => Effect.as(logged(cause), Option.none()))

/**
 * A message as an event. JSON has no line breaks of its own.
 *
 * @since 0.1.0
 * @category encoding
 */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`
