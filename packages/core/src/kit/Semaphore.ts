/**
 * Limits of what runs at the same time, with a waiting line in the order of arrival. `Permits` limits what has no fiber yet, such as a
 * request in `jsonrpc/runtime/Requests`; a `Semaphore`, made of `Permits`, limits effects. No permit is lost, though any fiber may be
 * interrupted at any step. Effect's own semaphore loses a permit when a fiber is interrupted in the step after it took the permit
 * (https://github.com/Effect-TS/effect/pull/6910 mends version 4 only), and wakes all waiting fibers at each release. When
 * test/kit/Semaphore and test/jsonrpc/runtime/Limits pass on Effect's semaphore, `Semaphore` can be deleted.
 *
 * `Permits` has mutable fields, because each request of a peer takes a permit in the read loop, where no Effect can run. `running` counts
 * the permits that are taken; `waiting` is the line, `order` reads it, `size` is its length, and `text` counts the characters of
 * the messages in the line.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as EffectInternals from "./EffectInternals.js"

export interface Limits {
  readonly running: number
  /** How many may wait. */
  readonly waiting: number
  /** How many characters of JSON text may wait. */
  readonly text: number
}

/** Permits for values of `A`, which may wait in line; `B` is what is kept for a value in the line. */
export class Permits<A, B = void> {
  running = 0
  /** How many values wait. */
  size = 0
  private text = 0
  private waiting: Map<A, { readonly kept: B; readonly text: number }> | undefined
  private order: Iterator<A> | undefined

  constructor(
    readonly limits: Limits,
    /** The permits of all clients together. A permit that is taken here is taken there, too. */
    private readonly all?: Permits<A, B>,
    /** Called when no permit is taken any more, and no value waits. */
    private readonly onEmpty?: () => void
  ) {}

  get isFree(): boolean {
    return this.running < this.limits.running && (this.all === undefined || this.all.isFree)
  }

  /** Takes a permit; `false` when no permit is free or a value waits. */
  enter(): boolean {
    if (this.size > 0 || this.running >= this.limits.running || this.all?.isFree === false) return false
    this.running++
    if (this.all !== undefined) this.all.running++
    return true
  }

  /** Gives a permit back. */
  leave(): void {
    this.running--
    if (this.all !== undefined) this.all.running--
    if (this.onEmpty !== undefined) this.settle()
  }

  /** Whether one more value of this length may wait. */
  canWait(text: number): boolean {
    return this.size < this.limits.waiting && this.text + text <= this.limits.text
  }

  wait(one: A, kept: B, text = 0): void {
    this.size++
    this.text += text
    this.waiting ??= new Map()
    this.waiting.set(one, { kept, text })
  }

  /** Removes a value from the line; `false` when the value does not wait. */
  drop(one: A): boolean {
    const dropped = this.remove(one) !== undefined
    if (dropped) this.settle()
    return dropped
  }

  /** Takes a permit for the first value in the line; `undefined` when no permit is free, or no value waits. */
  next(): readonly [A, B] | undefined {
    if (this.size === 0 || !this.isFree) return undefined
    // One iterator for all: a new iterator would pass all removed values each time.
    const one = (this.order ??= this.waiting!.keys()).next().value as A
    const { kept } = this.remove(one)!
    this.running++
    if (this.all !== undefined) this.all.running++
    return [one, kept]
  }

  /** Calls `onEmpty` when no permit is taken and no value waits. */
  settle(): void {
    if (this.running === 0 && this.size === 0) this.onEmpty?.()
  }

  private remove(one: A) {
    const waiting = this.waiting?.get(one)
    if (waiting !== undefined) {
      this.text -= waiting.text
      this.waiting!.delete(one)
      if (--this.size === 0) this.order = undefined
    }
    return waiting
  }
}

export interface Semaphore {
  /** Runs an effect when its turn comes. The effect counts as waiting from its first step on. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs an effect that takes no permit: it waits only during a `hold`. */
  readonly pass: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits until fewer effects wait than the capacity. */
  readonly awaitSpace: Effect.Effect<void>
  /** Runs an effect during which no other effect gets its turn. */
  readonly hold: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * By default one effect runs at a time. Any number of effects may wait: a caller that can wait waits in `awaitSpace`, while
 * `capacity` effects wait already.
 */
export const make = (limit = 1, capacity = Infinity): Semaphore => {
  const permits = new Permits<Deferred.Deferred<void>>({ running: limit, waiting: capacity, text: 0 })
  const notFull = EffectInternals.latch(true)
  const notHeld = EffectInternals.latch(true)
  let holders = 0

  const isFull = () => !permits.canWait(0)
  const giveTurns = () => {
    while (holders === 0) {
      const next = permits.next()
      if (next === undefined) break
      EffectInternals.done(next[0], Effect.void)
    }
    if (!isFull()) EffectInternals.open(notFull)
  }
  const release = Effect.sync(() => {
    permits.leave()
    if (permits.size > 0) giveTurns()
  })

  // A fiber that was woken looks again, because another hold may have begun since.
  const pass: Semaphore["pass"] = (effect) =>
    Effect.suspend(() => holders === 0 ? effect : Effect.zipRight(notHeld.await, pass(effect)))

  return {
    // Several fibers wake at once. Each fiber looks again, and waits once more when there is no space.
    awaitSpace: Effect.whileLoop({ while: isFull, body: () => notFull.await, step: () => {} }),
    run: (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const use = Effect.ensuring(restore(effect), release)
        if (holders === 0 && permits.enter()) return use
        const turn = EffectInternals.deferred<void>()
        permits.wait(turn)
        if (isFull()) EffectInternals.close(notFull)
        const leave = Effect.suspend(() => {
          if (!permits.drop(turn)) return release
          giveTurns()
          return Effect.void
        })
        return Effect.zipRight(Effect.onInterrupt(restore(Deferred.await(turn)), () => leave), use)
      }),
    pass,
    hold: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          if (holders++ === 0) EffectInternals.close(notHeld)
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            if (--holders > 0) return
            EffectInternals.open(notHeld)
            giveTurns()
          })
      )
  }
}
