/**
 * A queue between several senders and one reader. `offer` suspends its sender while the queue is full. `unsafeOffer` always adds its value;
 * use it for answers and requests, whose number other modules limit. `unsafeSlide` drops old values; use it for streams whose readers may
 * be slow. Transports with their own buffer use the function `send` in place of the queue.
 *
 * The class has mutable fields, because every message passes it. Effect's `Queue` cannot exceed its capacity, and cannot end with an exit.
 * The reader of Effect's `Mailbox` can miss a value that arrives between two of the reader's steps. When test/kit/Outbox passes with a
 * queue of Effect, this module can be deleted. `values` are the values that wait, in order. `reader` is set while the reader waits for a
 * value. After `exit` is set, no value is added. `text` is the sum of `sizes`, the sizes of the values that `unsafeSlide` added.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as EventLoop from "./EventLoop.js"
import * as StreamArrays from "./StreamArrays.js"
import * as Waking from "./Waking.js"

/** How many values may wait before `offer` suspends. The default of `make`. */
export const CAPACITY = 256

/**
 * How many characters the values that `unsafeSlide` added may have together while they wait. When they have more, `unsafeSlide` drops the
 * oldest values. A single value may have more characters.
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

  /** Suspends while the outbox is full. An outbox that has ended never counts as full. */
  readonly awaitSpace: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    // `isFull` is read again, because the fiber may have yielded after its caller has read it.
    if (!this.isFull) return wake()
    this.suspended.add(wake)
    return Effect.sync(() => this.suspended.delete(wake))
  })

  /** The effect with which a sender waits for space; `undefined` while there is space. */
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

  /** Adds the value, also when the outbox is full. Returns `false` when the outbox has ended; then the value is not added. */
  unsafeOffer(value: A): boolean {
    if (this.exit !== undefined) return false
    this.values.push(value)
    this.wakeReader()
    return true
  }

  /**
   * Adds the value, which has `size` characters. When the outbox is full, or its values would have more than `MAX_TEXT` characters
   * together, first drops the oldest values. Returns `false` when the outbox has ended.
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

  /** Adds the value as soon as there is space. Returns `false` when the outbox has ended. */
  offer(value: A): Effect.Effect<boolean> {
    return Effect.suspend(() =>
      this.isFull
        ? Effect.zipRight(this.awaitSpace, this.offer(value))
        : Effect.succeed(this.unsafeOffer(value))
    )
  }

  /** Ends the outbox. Values that wait can still be taken, but no value can be added. Later calls do not change the exit. */
  end(exit: Exit.Exit<void, E>): void {
    if (this.exit !== undefined) return
    this.exit = exit
    this.wakeSuspended()
    this.wakeReader()
  }

  /** Takes all values that wait. Returns an empty array when no value waits. */
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

  /**
   * Waits for at least one value, and takes all values that wait. When the outbox has ended and is empty, fails with `None` if the exit is
   * a success, otherwise with the error of the exit.
   */
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

  /** A stream of the values, in order. It ends when the outbox has ended and is empty. */
  get stream(): Stream.Stream<A, E> {
    return StreamArrays.fromPull(this.takeAll)
  }

  /** Calls `f` with each value, in order, until the outbox has ended and is empty. Fails when the exit of the outbox is a failure. */
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
    // Each sender reads `isFull` again when it runs. A sender that finds the outbox full waits once more, in the same order as before.
    const woken = [...this.suspended]
    this.suspended.clear()
    for (const wake of woken) Waking.wake(wake)
  }
}

/**
 * Makes an outbox in which `capacity` values may wait before `offer` suspends. Default: `CAPACITY`, 256. A capacity below 1 counts as 1.
 */
export const make = <A, E = never>(capacity: number = CAPACITY): Outbox<A, E> => new Outbox(Math.max(1, capacity))

/** A transport or a channel that can tell whether its buffer is full. */
export interface Congestible<A> {
  /** The effect that waits until there may be space; `undefined` while there is space, and after the end. */
  readonly congestion: Effect.Effect<void> | undefined
  readonly unsafeSend: (value: A) => boolean
  /** Whether nobody reads now, and values are kept for a later reader. Default: `false`. */
  readonly isUnread?: boolean | undefined
}

/** Whether there is space and somebody reads. */
export const canSend = (out: Congestible<never>): boolean => out.isUnread !== true && out.congestion === undefined

/**
 * Sends a value as soon as there is space. When many values were sent in this turn of the event loop, then waits for the next turn. Fails
 * with `closed` when `unsafeSend` returns `false`.
 */
export const send = <A, E>(out: Congestible<A>, value: A, closed: E): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const { congestion } = out
    // Several senders resume at the same time. Each sender reads `congestion` again, and waits once more when the outbox is full.
    if (congestion !== undefined) return Effect.zipRight(congestion, send(out, value, closed))
    if (!out.unsafeSend(value)) return Effect.fail(closed)
    return EventLoop.sent(out.isUnread !== true)
  })
