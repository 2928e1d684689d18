/**
 * The incoming half of a transport whose messages arrive by function calls, one HTTP request each, instead of a pipe
 * that a fiber reads. Each delivery has the channel on which its answers are sent. Exactly one reader takes the
 * deliveries: a function passed to `receiveWith` (without a fiber), `run`, or the stream `incoming`. HTTP transports
 * use it.
 *
 * A class with mutable fields, because an idle HTTP session may hold no fiber and no queue: while messages arrive,
 * either `receiver` or `queue` is set, and the queue exists only while a reader pulls or has not started.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Outbox from "../kit/Outbox.js"
import { TransportError } from "../LocalError.js"
import type { Channel } from "../Side.js"
import type { Delivery, Transport } from "../Transport.js"

/** How many deliveries may wait for a reader. */
export const MAX_WAITING = 1024

export interface FedTransport extends Transport {
  readonly feed: Feed
}

/** Receives one delivery; its answers are sent on the channel, or else on the transport. */
export type Receiver = (delivery: Delivery, channel?: Channel) => void

interface Waiting {
  readonly delivery: Delivery
  readonly channel: Channel | undefined
}

export class Feed {
  private receiver: Receiver | undefined
  private queue: Outbox.Outbox<Waiting, TransportError> | undefined
  private isRead = false

  constructor(
    /** Runs once when a reader of `run` or `incoming` stops before the feed has ended. */
    private readonly onReaderGone?: (() => void) | undefined
  ) {}

  /** Passes a delivery to the reader, or keeps it until there is one. `false` once the feed has ended or is full. */
  offer(delivery: Delivery, channel?: Channel): boolean {
    if (this.receiver !== undefined) {
      this.receiver(delivery, channel)
      return true
    }
    const queue = this.waiting()
    return !queue.isFull && queue.unsafeOffer({ delivery, channel })
  }

  /** Ends `run` and `incoming` after the deliveries that wait. The function of `receiveWith` still receives. */
  end(exit: Exit.Exit<void, TransportError> = Exit.void): void {
    if (this.receiver === undefined || this.queue !== undefined) this.waiting().end(exit)
  }

  /** Makes a function the reader and passes it the deliveries that wait. `false` when there is a reader already. */
  receiveWith(receiver: Receiver): boolean {
    if (!this.claim()) return false
    this.connect(receiver)
    return true
  }

  /** The `run` of a transport. */
  run(receiver: Receiver): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      if (!this.claim()) return Effect.fail(busy)
      this.connect(receiver)
      // Deliveries no longer pass the queue: it is read only to learn how the feed ends.
      return this.waiting().takeAll.pipe(
        Effect.catchAll(Option.match({ onNone: () => Effect.void, onSome: Effect.fail })),
        Effect.asVoid,
        Effect.ensuring(this.leave)
      )
    })
  }

  /** The `incoming` of a transport. `channelOf` returns the channel of a delivery. */
  get incoming(): Stream.Stream<Delivery, TransportError> {
    return Stream.suspend(() => {
      if (!this.claim()) return Stream.fail(busy)
      const deliveries = Stream.map(this.waiting().stream, ({ channel, delivery }) => {
        if (channel !== undefined) channels.set(delivery, channel)
        return delivery
      })
      return Stream.ensuring(deliveries, this.leave)
    })
  }

  private get leave(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.receiver = undefined
      if (this.queue?.isEnded === true) return
      this.end()
      this.onReaderGone?.()
    })
  }

  private claim(): boolean {
    if (this.isRead) return false
    return this.isRead = true
  }

  private connect(receiver: Receiver): void {
    // A receiver may cause another delivery, which waits behind the earlier ones.
    for (let waiting = this.take(); waiting.length > 0; waiting = this.take()) {
      for (const { channel, delivery } of waiting) receiver(delivery, channel)
    }
    this.receiver = receiver
  }

  private take(): ReadonlyArray<Waiting> {
    return this.queue?.unsafeTakeAll() ?? []
  }

  private waiting(): Outbox.Outbox<Waiting, TransportError> {
    return this.queue ??= Outbox.make(MAX_WAITING)
  }
}

/** The channel of a delivery that was read from `incoming`. */
export const channelOf = (delivery: Delivery): Channel | undefined => channels.get(delivery)

const channels = new WeakMap<Delivery, Channel>()

const busy = new TransportError({ reason: "Read", message: "The transport is being read already" })
