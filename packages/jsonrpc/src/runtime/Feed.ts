/**
 * The incoming half of a transport that calls feed: an HTTP request hands its messages over, no fiber reads a pipe. Each
 * delivery names the channel that it came on, which is where its answers go.
 *
 * Exactly one reader takes the deliveries, in one of three ways: a function that `receiveWith` is given (no fiber, no
 * stream: what production uses), `run`, or `incoming`, a stream that is built when it is first read. A second reader is
 * refused. HTTP transports of servers and clients put `incoming` and `run` of a feed into their `Transport`.
 *
 * The fields change because an idle HTTP session may hold no fiber and no queue: `receiver` or `queue` is set, never
 * both while messages come in, and the queue exists only while a reader pulls or has not come yet.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { TransportError } from "../LocalError.js"
import type { Channel } from "../Side.js"
import type { Delivery, Transport } from "../Transport.js"
import * as Outbox from "./Outbox.js"

/** How many deliveries may wait for a reader that pulls, or has not come yet. */
export const MAX_WAITING = 1024

/** A transport whose messages calls hand over. */
export interface FedTransport extends Transport {
  readonly feed: Feed
}

/** Takes one delivery; answers leave on the channel, or on the transport itself when there is none. */
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

  /**
   * Hands a delivery to the reader, or keeps it until there is one. `false` when it is lost: the feed has ended, or
   * `MAX_WAITING` deliveries wait already.
   */
  offer(delivery: Delivery, channel?: Channel): boolean {
    if (this.receiver !== undefined) {
      this.receiver(delivery, channel)
      return true
    }
    const queue = this.waiting()
    return !queue.isFull && queue.unsafeOffer({ delivery, channel })
  }

  /** Ends `run` and `incoming` after what waits. A function given to `receiveWith` stays: it answers late messages. */
  end(exit: Exit.Exit<void, TransportError> = Exit.void): void {
    if (this.receiver === undefined || this.queue !== undefined) this.waiting().end(exit)
  }

  /** Makes a function the reader; what waits is handed to it at once. `false` when there is a reader already. */
  receiveWith(receiver: Receiver): boolean {
    if (!this.claim()) return false
    this.connect(receiver)
    return true
  }

  /** What `Transport.run` is made of. */
  run(receiver: Receiver): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      if (!this.claim()) return Effect.fail(busy)
      this.connect(receiver)
      // Deliveries go past the queue from now on: it is taken from only to learn how the feed ends.
      return this.waiting().takeAll.pipe(
        Effect.catchAll(Option.match({ onNone: () => Effect.void, onSome: Effect.fail })),
        Effect.asVoid,
        Effect.ensuring(this.leave)
      )
    })
  }

  /** What `Transport.incoming` is made of. `channelOf` names the channel of a delivery. */
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
    // A receiver may cause another delivery, which waits behind those that are here already.
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

/** The channel that a delivery, read from `incoming`, came on. */
export const channelOf = (delivery: Delivery): Channel | undefined => channels.get(delivery)

const channels = new WeakMap<Delivery, Channel>()

const busy = new TransportError({ reason: "Read", message: "The transport is being read already" })
