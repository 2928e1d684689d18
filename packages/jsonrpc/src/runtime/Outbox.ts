/**
 * Values waiting to be written, in order. A sender that can wait waits while the outbox is full; one that cannot (an
 * answer, a request) is always taken in, because their number is bounded elsewhere.
 *
 * The buffer between any sender and any writer: the transports use it. It knows nothing of messages.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/**
 * How many values may wait before `offer` suspends.
 *
 * @since 0.1.0
 * @category limits
 */
export const CAPACITY = 256

/**
 * @since 0.1.0
 * @category models
 */
export class Outbox<in out A, in out E = never> {
  private values: Array<A> = []
  private readonly waiting = new Set<() => void>()
  private reader: (() => void) | undefined
  private ended: Exit.Exit<void, E> | undefined

  constructor(readonly capacity: number) {}

  /** Suspends while the outbox is full; an outbox that has ended is not. */
  readonly room: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    // Asked again here, because a fiber may be made to yield between looking and waiting.
    if (!this.isFull) return wake()
    this.waiting.add(wake)
    return Effect.sync(() => this.waiting.delete(wake))
  })

  /** How many values wait to be taken. */
  get size(): number {
    return this.values.length
  }

  /** Whether `end` was called. */
  get isEnded(): boolean {
    return this.ended !== undefined
  }

  /** Whether `offer` has to wait. */
  get isFull(): boolean {
    return this.ended === undefined && this.values.length >= this.capacity
  }

  /** Takes the value in, whatever the size; `false` when the outbox has ended. */
  unsafeOffer(value: A): boolean {
    if (this.ended !== undefined) return false
    this.values.push(value)
    this.wake()
    return true
  }

  /** Takes the value in, as soon as there is room; `false` when the outbox has ended. */
  offer(value: A): Effect.Effect<boolean> {
    return Effect.suspend(() =>
      this.isFull
        ? Effect.zipRight(this.room, this.offer(value))
        : Effect.succeed(this.unsafeOffer(value))
    )
  }

  /** Ends the outbox: what waits can still be taken, nothing more comes in. The first call decides how it ends. */
  end(exit: Exit.Exit<void, E>): void {
    if (this.ended !== undefined) return
    this.ended = exit
    this.release()
    this.wake()
  }

  /** Everything that waits, or nothing at all: never suspends. */
  unsafeTakeAll(): Array<A> {
    const taken = this.values
    if (taken.length > 0) {
      this.values = []
      this.release()
    }
    return taken
  }

  /** Everything that waits, as soon as there is something; fails with `None` or the error when ended and empty. */
  get takeAll(): Effect.Effect<Array<A>, Option.Option<E>> {
    return Effect.suspend((): Effect.Effect<Array<A>, Option.Option<E>> => {
      if (this.values.length > 0) return Effect.succeed(this.unsafeTakeAll())
      if (this.ended !== undefined) {
        return Exit.isSuccess(this.ended)
          ? Effect.fail(Option.none())
          : Effect.failCause(Cause.map(this.ended.cause, Option.some))
      }
      return Effect.zipRight(this.something, this.takeAll)
    })
  }

  /** What comes in, for one reader, a chunk at a time. */
  get stream(): Stream.Stream<A, E> {
    return Stream.repeatEffectChunkOption(Effect.map(this.takeAll, Chunk.unsafeFromArray))
  }

  private readonly something: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    if (this.values.length > 0 || this.ended !== undefined) return wake()
    this.reader = wake
    return Effect.sync(() => {
      if (this.reader === wake) this.reader = undefined
    })
  })

  private wake(): void {
    const reader = this.reader
    if (reader !== undefined) {
      this.reader = undefined
      reader()
    }
  }

  private release(): void {
    // Each sender asks again when it runs: those that find the outbox full wait once more, in their order.
    const woken = [...this.waiting]
    this.waiting.clear()
    for (const wake of woken) wake()
  }
}

/**
 * An outbox that lets `capacity` values, at least one, wait before `offer` suspends.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, E = never>(capacity: number = CAPACITY): Outbox<A, E> => new Outbox(Math.max(1, capacity))
