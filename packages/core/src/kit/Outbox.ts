/**
 * A queue between senders and one writer. A sender that can wait is suspended while the queue is full; `unsafeOffer` (for answers and
 * requests, whose number is bounded elsewhere) always adds its value. Transports use the queue, or `send` where they have a buffer of
 * their own. Streams whose readers may be slow use `unsafeSlide`.
 *
 * A class with mutable fields, because every message passes here, Effect's `Queue` can neither exceed its capacity nor end with an exit,
 * and the reader of its `Mailbox` can miss a value that arrives between two of its steps. When test/kit/Outbox passes on a queue of
 * Effect, this module can be deleted. `values` are the values that wait, in order; `reader` is set while the writer waits for a value;
 * once `exit` is set no value is added. `text` is the sum of `sizes`, the sizes of the values of `unsafeSlide`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as EventLoop from "./EventLoop.js"
import * as StreamArrays from "./StreamArrays.js"
import * as Waking from "./Waking.js"

/** How many values may wait before `offer` suspends, by default. */
export const CAPACITY = 256

/**
 * How many characters the values that wait for a slow reader may have together; beyond that the oldest are dropped. A single value may have
 * more.
 */
export const MAX_TEXT = 16 * 1024 * 1024

export class Outbox<in out A, in out E = never> {
  private values: Array<A> = []
  private readonly suspended = new Set<() => void>()
  private reader: (() => void) | undefined
  private exit: Exit.Exit<void, E> | undefined
  private sizes: Array<number> | undefined
  private text = 0

  constructor(readonly capacity: number) {}

  /** Suspends while the outbox is full. An outbox that has ended is not full. */
  readonly awaitSpace: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    // Checked again, because the fiber may have yielded since its caller checked.
    if (!this.isFull) return wake()
    this.suspended.add(wake)
    return Effect.sync(() => this.suspended.delete(wake))
  })

  /** What a sender waits for; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.isFull ? this.awaitSpace : undefined
  }

  get size(): number {
    return this.values.length
  }

  get isEnded(): boolean {
    return this.exit !== undefined
  }

  get isFull(): boolean {
    return this.exit === undefined && this.values.length >= this.capacity
  }

  /** Adds the value, even when full; `false` when the outbox has ended. */
  unsafeOffer(value: A): boolean {
    if (this.exit !== undefined) return false
    this.values.push(value)
    this.wakeReader()
    return true
  }

  /**
   * Adds the value, which has so many characters; when the outbox is full, or holds more than `MAX_TEXT`, drops the oldest values
   * first. `false` when the outbox has ended.
   */
  unsafeSlide(value: A, size = 0): boolean {
    const sizes = this.sizes ??= []
    while (this.values.length > 0 && (this.isFull || this.text + size > MAX_TEXT)) {
      this.values.shift()
      this.text -= sizes.shift() ?? 0
    }
    sizes.push(size)
    this.text += size
    return this.unsafeOffer(value)
  }

  /** Adds the value as soon as there is space; `false` when the outbox has ended. */
  offer(value: A): Effect.Effect<boolean> {
    return Effect.suspend(() =>
      this.isFull
        ? Effect.zipRight(this.awaitSpace, this.offer(value))
        : Effect.succeed(this.unsafeOffer(value))
    )
  }

  /** Ends the outbox: values that wait can still be taken, no value is added. The first call decides the exit. */
  end(exit: Exit.Exit<void, E>): void {
    if (this.exit !== undefined) return
    this.exit = exit
    this.wakeSuspended()
    this.wakeReader()
  }

  /** Takes all values that wait; an empty array when there are none. */
  unsafeTakeAll(): Array<A> {
    const taken = this.values
    if (taken.length > 0) {
      this.values = []
      this.sizes = undefined
      this.text = 0
      this.wakeSuspended()
    }
    return taken
  }

  /** Takes all values that wait, at least one. Fails with `None`, or the error, once the outbox ended and is empty. */
  get takeAll(): Effect.Effect<Array<A>, Option.Option<E>> {
    return Effect.suspend((): Effect.Effect<Array<A>, Option.Option<E>> => {
      if (this.values.length > 0) return Effect.succeed(this.unsafeTakeAll())
      if (this.exit !== undefined) {
        return Exit.isSuccess(this.exit)
          ? Effect.fail(Option.none())
          : Effect.failCause(Cause.map(this.exit.cause, Option.some))
      }
      return Effect.zipRight(this.awaitValue, this.takeAll)
    })
  }

  /** The values, in order, until the outbox has ended and is empty. */
  get stream(): Stream.Stream<A, E> {
    return StreamArrays.fromPull(this.takeAll)
  }

  /** Passes the values to `f`, in order, until the outbox has ended and is empty. */
  forEach(f: (value: A) => void): Effect.Effect<void, E> {
    const all = Effect.whileLoop({
      while: () => true,
      body: () => this.takeAll,
      step: (values) => {
        for (const value of values) f(value)
      }
    })
    return Effect.catchAll(all, Option.match({ onNone: () => Effect.void, onSome: Effect.fail }))
  }

  private readonly awaitValue: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    if (this.values.length > 0 || this.exit !== undefined) return wake()
    this.reader = wake
    return Effect.sync(() => {
      if (this.reader === wake) this.reader = undefined
    })
  })

  private wakeReader(): void {
    const reader = this.reader
    if (reader !== undefined) {
      this.reader = undefined
      Waking.wake(reader)
    }
  }

  private wakeSuspended(): void {
    // Each sender checks again when it runs; a sender that finds the outbox full waits once more, in the same order.
    const woken = [...this.suspended]
    this.suspended.clear()
    for (const wake of woken) Waking.wake(wake)
  }
}

/** An outbox in which `capacity` values, at least one, may wait before `offer` suspends. */
export const make = <A, E = never>(capacity: number = CAPACITY): Outbox<A, E> => new Outbox(Math.max(1, capacity))

/** A transport or a channel that knows when it is full. */
export interface Congestible<A> {
  /** Waits until there may be space; `undefined` while there is space, and after closing. */
  readonly congestion: Effect.Effect<void> | undefined
  readonly unsafeSend: (value: A) => boolean
  /** Whether there is no reader now, and values are kept for a later reader. */
  readonly isUnread?: boolean | undefined
}

/** Whether there is space, and somebody reads the value. */
export const canSend = (out: Congestible<never>): boolean => out.isUnread !== true && out.congestion === undefined

/**
 * Sends a value as soon as there is space, and then waits for the next turn of the event loop when many were sent in this one. Fails with
 * `closed` when `unsafeSend` returns `false`.
 */
export const send = <A, E>(out: Congestible<A>, value: A, closed: E): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const { congestion } = out
    // Several senders resume at once. Each sender checks again, and waits once more when the outbox is full.
    if (congestion !== undefined) return Effect.zipRight(congestion, send(out, value, closed))
    if (!out.unsafeSend(value)) return Effect.fail(closed)
    return EventLoop.sent(out.isUnread !== true)
  })
