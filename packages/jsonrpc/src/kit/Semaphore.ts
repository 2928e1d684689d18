/**
 * Limits of what runs at the same time, with a line of what waits, in the order in which it came. `Places` counts and decides
 * for what has no fiber yet, such as a request that waits; a `Semaphore` is a limit for effects, made of `Places`. None of its
 * places is lost, though any fiber may be interrupted at any step. Effect's own semaphore loses its permit when a fiber is
 * interrupted in the step after it took it (https://github.com/Effect-TS/effect/pull/6910 mends version 4 only), and wakes all
 * that wait at each release. When test/kit/Semaphore and test/runtime/Limits pass on Effect's, `Semaphore` can be deleted.
 *
 * `Places` has mutable fields, because each request of a peer takes a place in the read loop, where no Effect can run. `running`
 * counts the places that are taken; `waiting` holds what waits and has no place, `order` reads it, `size` is its number, and `text`
 * counts its characters.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Edition from "./Edition.js"

export interface Limits {
  readonly running: number
  /** How many may wait. */
  readonly waiting: number
  /** How many characters of JSON text may wait. */
  readonly text: number
}

/** Places for `A`; `B` is what is kept of one while it waits. */
export class Places<A, B = void> {
  running = 0
  /** How many wait. */
  size = 0
  private text = 0
  private waiting: Map<A, { readonly kept: B; readonly text: number }> | undefined
  private order: Iterator<A> | undefined

  constructor(
    readonly limits: Limits,
    /** The places of all clients together. What takes a place here takes one there, too. */
    private readonly all?: Places<A, B>,
    /** Called when no place is taken any more, and none waits. */
    private readonly onEmpty?: () => void
  ) {}

  get isFree(): boolean {
    return this.running < this.limits.running && (this.all === undefined || this.all.isFree)
  }

  /** Takes a place; `false` when none is free or an earlier one waits. */
  enter(): boolean {
    if (this.size > 0 || this.running >= this.limits.running || this.all?.isFree === false) return false
    this.running++
    if (this.all !== undefined) this.all.running++
    return true
  }

  /** Gives a place back. */
  leave(): void {
    this.running--
    if (this.all !== undefined) this.all.running--
    if (this.onEmpty !== undefined) this.settle()
  }

  /** Whether one more of this length may wait. */
  canWait(text: number): boolean {
    return this.size < this.limits.waiting && this.text + text <= this.limits.text
  }

  wait(one: A, kept: B, text = 0): void {
    this.size++
    this.text += text
    this.waiting ??= new Map()
    this.waiting.set(one, { kept, text })
  }

  /** Ends the wait of one, which gets no place; `false` when it does not wait. */
  drop(one: A): boolean {
    const dropped = this.remove(one) !== undefined
    if (dropped) this.settle()
    return dropped
  }

  /** Gives the first that waits a place; `undefined` when none is free, or none waits. */
  next(): readonly [A, B] | undefined {
    if (this.size === 0 || !this.isFree) return undefined
    // One iterator for all: a new one would pass what was removed each time.
    const one = (this.order ??= this.waiting!.keys()).next().value as A
    const { kept } = this.remove(one)!
    this.running++
    if (this.all !== undefined) this.all.running++
    return [one, kept]
  }

  /** What waits, in the order in which it came. */
  requests(): ReadonlyArray<A> {
    return this.waiting === undefined ? [] : [...this.waiting.keys()]
  }

  /** Calls `onEmpty` when it is so. */
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
  /** Runs an effect when its turn comes. It counts as waiting from the first step on. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs an effect that takes no place: it waits only while another one is held. */
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
export const make = (permits = 1, capacity = Infinity): Semaphore => {
  const places = new Places<Deferred.Deferred<void>>({ running: permits, waiting: capacity, text: 0 })
  const notFull = Edition.latch(true)
  const notHeld = Edition.latch(true)
  let holders = 0

  const isFull = () => !places.canWait(0)
  const giveTurns = () => {
    while (holders === 0) {
      const next = places.next()
      if (next === undefined) break
      Edition.done(next[0], Effect.void)
    }
    if (!isFull()) Edition.open(notFull)
  }
  const release = Effect.sync(() => {
    places.leave()
    if (places.size > 0) giveTurns()
  })

  return {
    // Several fibers wake at once. Each fiber looks again, and waits once more when it finds no space.
    awaitSpace: Effect.whileLoop({ while: isFull, body: () => notFull.await, step: () => {} }),
    run: (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const use = Effect.ensuring(restore(effect), release)
        if (holders === 0 && places.enter()) return use
        const turn = Edition.deferred<void>()
        places.wait(turn)
        if (isFull()) Edition.close(notFull)
        const leave = Effect.suspend(() => {
          if (!places.drop(turn)) return release
          giveTurns()
          return Effect.void
        })
        return Effect.zipRight(Effect.onInterrupt(restore(Deferred.await(turn)), () => leave), use)
      }),
    pass: (effect) => Effect.suspend(() => holders === 0 ? effect : Effect.zipRight(notHeld.await, effect)),
    hold: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          if (holders++ === 0) Edition.close(notHeld)
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            if (--holders > 0) return
            Edition.open(notHeld)
            giveTurns()
          })
      )
  }
}
