/**
 * Work that runs beside other work, a few at a time: what is too much waits for its turn, in order. Each piece of work has a
 * fiber of its own, may be given up, and may have a deadline; who wanted it hears how it ended, whatever it was.
 *
 * It knows nothing of messages.
 *
 * @since 0.1.0
 */
import type * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"

/**
 * How a piece of work ended; `undefined` when it never began.
 *
 * @since 0.1.0
 * @category models
 */
export type Done<E> = (exit: Exit.Exit<void, E> | undefined, slot: Slot<E>) => void

/**
 * @since 0.1.0
 * @category models
 */
export class Slot<E> {
  /** Its fiber, once it has begun. */
  fiber: Fiber.RuntimeFiber<void, E> | undefined
  /** Whether its turn has come. */
  hasBegun = false
  /** Whether somebody has given it up. */
  cancelled = false
  /** When it is given up. */
  deadline = Infinity

  constructor(
    private readonly slots: Slots<E>,
    readonly work: (slot: Slot<E>) => Effect.Effect<void, E>,
    readonly done: Done<E>
  ) {}

  /** Gives it up. */
  cancel(): void {
    this.slots.cancel(this)
  }
}

/**
 * @since 0.1.0
 * @category models
 */
export class Slots<E = never> {
  private readonly running = new Set<Slot<E>>()
  private readonly waiting = new Set<Slot<E>>()
  private senders: Array<() => void> = []
  private idlers: Array<() => void> = []
  private holds = 0

  constructor(
    private readonly runtime: Runtime.Runtime<never>,
    private readonly alarm: DeadlineTimer.DeadlineTimer,
    private readonly max: number,
    /** How many may wait before `room` suspends. */
    private readonly capacity: number
  ) {}

  /** How many pieces of work there are. */
  get size(): number {
    return this.running.size + this.waiting.size
  }

  get isFull(): boolean {
    return this.waiting.size >= this.capacity
  }

  /** Suspends while too many wait. */
  readonly room: Effect.Effect<void> = Effect.async<void>((resume) => {
    if (!this.isFull) return resume(Effect.void)
    this.senders.push(() => resume(this.room))
  })

  /** Starts work, now or when it is its turn. */
  start(work: (slot: Slot<E>) => Effect.Effect<void, E>, done: Done<E>): Slot<E> {
    const slot = new Slot(this, work, done)
    this.waiting.add(slot)
    this.next()
    return slot
  }

  /** Begins nothing until it is released as often as it was held. */
  hold(): void {
    this.holds++
  }

  release(): void {
    this.holds--
    this.next()
  }

  /** Gives a piece of work up at that time, if it has not ended by itself. */
  expire(slot: Slot<E>, at: number): void {
    slot.deadline = at
    this.alarm.set(at)
  }

  /** Gives up what is due; says when to look again. */
  ring(now: number): number {
    let next = Infinity
    for (const slot of [...this.running, ...this.waiting]) {
      if (slot.deadline <= now) slot.cancel()
      else next = Math.min(next, slot.deadline)
    }
    return next
  }

  cancel(slot: Slot<E>): void {
    slot.cancelled = true
    if (this.waiting.delete(slot)) {
      slot.done(undefined, slot)
      this.wake()
    } else if (slot.fiber !== undefined) {
      slot.fiber.unsafeInterruptAsFork(slot.fiber.id())
    }
  }

  /** Gives up everything. */
  stop(): void {
    for (const slot of [...this.waiting, ...this.running]) slot.cancel()
  }

  /** Waits until there is nothing left. */
  readonly settled: Effect.Effect<void> = Effect.async<void>((resume) => {
    if (this.size === 0) return resume(Effect.void)
    this.idlers.push(() => resume(this.settled))
  })

  private next(): void {
    for (const slot of this.waiting) {
      if (this.holds > 0 || this.running.size >= this.max) return
      this.waiting.delete(slot)
      this.running.add(slot)
      slot.hasBegun = true
      const fiber = slot.fiber = Runtime.runFork(this.runtime, slot.work(slot))
      fiber.addObserver((exit) => {
        this.running.delete(slot)
        slot.done(exit, slot)
        this.next()
        this.wake()
      })
      // Its first steps have made somebody give it up.
      if (slot.cancelled) this.cancel(slot)
      this.wake()
    }
  }

  private wake(): void {
    const woken: Array<() => void> = []
    if (this.size === 0) { for (const wake of this.idlers.splice(0)) woken.push(wake) }
    if (!this.isFull) { for (const wake of this.senders.splice(0)) woken.push(wake) }
    for (const wake of woken) wake()
  }
}
