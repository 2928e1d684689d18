/**
 * The messages of one stream, whether somebody reads it at the moment or not. Where there is an event store they are kept
 * before they are delivered, so that a reader who was cut off can have what it missed.
 *
 * It knows neither requests nor sessions: who owns it says what goes in and what happens when nobody reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */
import * as Outbox from "@effect-mcp/jsonrpc/Outbox"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type { EventStoreService, StoredEvent, StreamKey } from "../http/EventStore.js"
import type { EventStream } from "../http/EventStream.js"
import type { Site } from "../http/Site.js"
import * as EventId from "./EventId.js"

/**
 * Opens the response that a lane is to be read on, if the client is still there. The lane has to be told when it is over.
 *
 * @since 0.1.0
 * @category models
 */
export type Open = () => EventStream | undefined

interface Step {
  readonly effect: Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>> | void>
  readonly then: (exit: Exit.Exit<Option.Option<ReadonlyArray<StoredEvent>> | void>) => void
}

/**
 * @since 0.1.0
 * @category models
 */
export class Lane {
  /** The response that it is being read on. */
  attached: EventStream | undefined
  private readonly store: EventStoreService | undefined
  /** What waits for the store, one after another. */
  private readonly steps: Outbox.Outbox<Step> | undefined
  private stepping = false
  /** The position of the last event, and of the last that a reader was given. */
  private last = 0
  private handed = 0

  constructor(
    private readonly site: Site,
    /** Under which its events are kept, if they are. */
    readonly key: StreamKey | undefined
  ) {
    this.store = key === undefined ? undefined : site.events
    this.steps = this.store === undefined ? undefined : Outbox.make(site.options.capacity)
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
    this.step(store.append(this.key!, event), () => this.deliver(event))
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
    const missed = Effect.suspend(() =>
      this.handed === this.last ? nothing : Effect.flatMap(
        store.after(this.key!, this.handed),
        (events) => Option.isSome(events) ? Effect.succeed(events) : store.after(this.key!, -1)
      )
    )
    this.step(missed, (exit) => {
      const events = eventsOf(exit) ?? []
      this.attached?.end()
      this.attached = open()
      if (prime) this.prime(events.length === 0 ? this.handed = ++this.last : this.handed)
      for (const event of events) this.deliver(event)
    })
  }

  /** Lets it be read by who has had everything up to a position; a reader that is there already has to go. */
  resume(position: number, open: Open, refuse: () => void): void {
    if (this.store === undefined || position > this.last) return refuse()
    this.step(position === this.last ? nothing : this.store.after(this.key!, position), (exit) => {
      const events = eventsOf(exit)
      if (events === undefined) return refuse()
      this.attached?.end()
      this.attached = open()
      this.handed = position
      for (const event of events) this.deliver(event)
    })
  }

  /** The response is over: it is read no longer, unless it is read on another one by now. */
  detach(stream: EventStream): void {
    if (this.attached === stream) this.attached = undefined
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
      this.attached?.end()
      then()
    }
    if (this.store === undefined) end()
    else this.step(this.store.finish(this.key!), end)
  }

  /** Does it when everything that was said before has been delivered. */
  after(act: () => void): void {
    if (this.steps === undefined || !this.stepping) act()
    else this.step(Effect.void, act)
  }

  private deliver({ data, position }: StoredEvent): void {
    if (this.attached === undefined) return
    const id = EventId.encode(this.key!.session, this.key!.stream, position)
    if (this.attached.push(frame(data, id))) this.handed = Math.max(this.handed, position)
  }

  private prime(position: number): void {
    const { session, stream } = this.key!
    this.attached?.push(Sse.encode({
      id: EventId.encode(session, stream, position),
      retry: this.site.options.retry,
      data: ""
    }))
  }

  private step(effect: Step["effect"], then: Step["then"]): void {
    // A store that breaks costs the past, not the present.
    const safe = Effect.tapErrorCause(effect, (cause) => Effect.logError("The event store failed", cause))
    this.steps!.unsafeOffer({ effect: safe, then })
    if (!this.stepping) this.run([])
  }

  private run(steps: ReadonlyArray<Step>, from = 0): void {
    this.stepping = true
    for (let taken = steps, at = from;; at++) {
      if (at >= taken.length) {
        taken = this.steps!.unsafeTakeAll()
        at = 0
        if (taken.length === 0) break
      }
      const step = taken[at]!
      const fiber = Runtime.runFork(this.site.runtime, step.effect)
      const exit = fiber.unsafePoll()
      if (exit === null) {
        const rest = taken
        const next = at + 1
        fiber.addObserver((exit) => {
          step.then(exit)
          this.run(rest, next)
        })
        return
      }
      step.then(exit)
    }
    this.stepping = false
  }
}

const nothing = Effect.succeed(Option.some([]))

const eventsOf = (exit: Parameters<Step["then"]>[0]): ReadonlyArray<StoredEvent> | undefined =>
  Exit.isSuccess(exit) && exit.value !== undefined ? Option.getOrUndefined(exit.value) : undefined

/**
 * A message as an event. JSON has no line breaks of its own.
 *
 * @since 0.1.0
 * @category encoding
 */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`
