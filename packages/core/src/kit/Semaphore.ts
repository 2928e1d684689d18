/**
 * Limits how many effects run at the same time. An effect that gets no permit waits in a line, in the order of arrival.
 * `Permits` limits work that has no fiber yet, such as a request in `jsonrpc/runtime/Requests`. A `Semaphore` uses `Permits` to limit
 * effects. No permit is lost when a fiber is interrupted, at any step. Effect's own semaphore loses a permit when a fiber is interrupted in
 * the step after it took the permit (https://github.com/Effect-TS/effect/pull/6910 repairs version 4 only). It also wakes all waiting
 * fibers at each release. When test/kit/Semaphore and test/jsonrpc/runtime/Limits pass with Effect's semaphore, `Semaphore` can be deleted.
 *
 * `Permits` has mutable fields, because each request of a peer takes a permit in the read loop, where no Effect can run. `running` counts
 * the permits that are taken. `waiting` is the line, `order` its iterator, `size` its length, and `text` the number of characters of all
 * waiting messages.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as EffectInternals from "./EffectInternals.js"

export interface Limits {
  /** How many values may run at the same time. */
  readonly running: number
  /** How many values may wait. */
  readonly waiting: number
  /** How many characters of JSON text the waiting values may have together. */
  readonly text: number
}

/** Permits for values of type `A`, which may wait in a line. The line stores a `B` with each value. */
export class Permits<A, B = void> {
  /** How many permits are taken. */
  running = 0
  /** How many values wait. */
  size = 0
  private text = 0
  private waiting: Map<A, { readonly kept: B; readonly text: number }> | undefined
  private order: Iterator<A> | undefined

  constructor(
    readonly limits: Limits,
    /**
     * The permits of all clients together, if they have a common limit. Each permit that is taken or given back here is taken or given back
     * there, too.
     */
    private readonly all?: Permits<A, B>,
    /** Called each time that no permit is taken and no value waits. */
    private readonly onEmpty?: () => void
  ) {}

  /** Whether a permit is free, here and among the permits of all clients. */
  get isFree(): boolean {
    return this.running < this.limits.running && (this.all === undefined || this.all.isFree)
  }

  /**
   * Takes a permit. Returns `false`, and takes no permit, when no permit is free, or when a value already waits and must come first.
   */
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

  /** Whether one more value, whose JSON text has `text` characters, may wait. */
  canWait(text: number): boolean {
    return this.size < this.limits.waiting && this.text + text <= this.limits.text
  }

  /**
   * Adds a value to the end of the line. `kept` is stored with the value, and `text` is how many characters its JSON text has. `wait` does
   * not check the limits; see `canWait`.
   */
  wait(one: A, kept: B, text = 0): void {
    this.size++
    this.text += text
    this.waiting ??= new Map()
    this.waiting.set(one, { kept, text })
  }

  /** Removes a value from the line. Returns `false` when the value does not wait. */
  drop(one: A): boolean {
    const dropped = this.remove(one) !== undefined
    if (dropped) this.settle()
    return dropped
  }

  /**
   * Takes a permit for the first value in the line, and removes the value from the line. Returns `undefined` when no permit is free, or no
   * value waits.
   */
  next(): readonly [A, B] | undefined {
    if (this.size === 0 || !this.isFree) return undefined
    // All calls share one iterator. A new iterator would step over all removed values each time.
    const one = (this.order ??= this.waiting!.keys()).next().value as A
    const { kept } = this.remove(one)!
    this.running++
    if (this.all !== undefined) this.all.running++
    return [one, kept]
  }

  /** Calls `onEmpty` if no permit is taken and no value waits. */
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
  /** Runs an effect as soon as a permit is free and no `hold` runs. The effect has its place in the line from its first step on. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs an effect without a permit. The effect waits only while a `hold` runs. */
  readonly pass: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits until fewer effects wait than `capacity`, the argument of `make`. */
  readonly awaitSpace: Effect.Effect<void>
  /** Runs an effect. Until it ends, no effect of `run` or `pass` begins; effects that have begun go on. */
  readonly hold: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * Makes a semaphore. `limit` effects may run at a time, by default one. `run` adds any number of effects to the line. `capacity` only
 * decides when `awaitSpace` waits: while `capacity` effects wait already. Default: `awaitSpace` never waits.
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

  // A fiber that was woken checks again, because another `hold` may have begun meanwhile.
  const pass: Semaphore["pass"] = (effect) =>
    Effect.suspend(() => holders === 0 ? effect : Effect.zipRight(notHeld.await, pass(effect)))

  return {
    // Several fibers wake at the same time. Each fiber checks again, and waits once more when there is no space.
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
