/**
 * Runs any number of deadlines with one fiber, which sleeps until the next deadline. Deadlines are the timeouts of calls and of commands,
 * the ends of idle sessions, and the time limits for readers that do not read. Each object that expires stores its own deadline. When a
 * deadline may be due, a sweep calls all these objects.
 *
 * The class has mutable fields for speed. A timer for each request (`Effect.timeout`) adds 39 µs to a call of 3 µs, and a sleeping fiber
 * for each session doubles the memory of an idle session. Here a later deadline costs one comparison. When Effect has a timeout at such a
 * cost, and test/kit/Deadlines and test/jsonrpc/runtime/Calls.deadlines pass with that timeout, this module can be deleted. `at` is the
 * time of the next sweep: `Infinity` when no sweep is due, `-Infinity` after `stop`. A fiber sleeps exactly while `at` is finite.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "./EffectInternals.js"

// In Node, a timer of more than 2^31-1 milliseconds fires at once. Therefore a longer sleep is divided into sleeps of this length.
const LONGEST_SLEEP = 2 ** 30

/** Returns the milliseconds of a duration, at least 0. `Infinity` means that there is no deadline. */
export const millis = (duration: Duration.DurationInput): number =>
  Math.max(0, Duration.toMillis(Duration.decode(duration)))

export interface Expirable {
  /**
   * Does what is due at the time `now` (milliseconds of `Deadlines.now`). Returns the time of its next sweep, `Infinity` for no further
   * sweep.
   */
  readonly sweep: (now: number) => number
}

export class Deadlines {
  private readonly watched = new Set<Expirable>()
  private at = Infinity
  private swept = -Infinity
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private isSweeping = false
  private current: Expirable | undefined
  private readonly runtime: EffectInternals.Services

  constructor(
    runtime: EffectInternals.Services,
    private readonly clock: Clock.Clock,
    /** The least time between two sweeps, in milliseconds. A deadline may be late by this time. Default: 0. */
    readonly resolution = 0
  ) {
    this.runtime = EffectInternals.interruptible(runtime)
  }

  /** How many objects are watched. */
  get size(): number {
    return this.watched.size
  }

  /** The time in milliseconds of a clock that does not jump. All deadlines are times of this clock. */
  now(): number {
    return Number(EffectInternals.nanos(this.clock)) / 1_000_000
  }

  /** Calls `sweep` of `expirable` at the time `at` or earlier, and at each time that `sweep` returns, until `unwatch`. */
  watch(expirable: Expirable, at: number): this {
    this.watched.add(expirable)
    this.set(at)
    return this
  }

  /** Stops sweeping `expirable`. Returns `false` when `expirable` was not watched. */
  unwatch(expirable: Expirable): boolean {
    return this.watched.delete(expirable)
  }

  /** Calls `onDue` once after `delay` milliseconds; never when `delay` is `Infinity`. `unwatch` of the returned object cancels the call. */
  schedule(delay: number, onDue: () => void): Expirable {
    const at = this.now() + delay
    const scheduled: Expirable = {
      sweep: (now) => {
        if (now < at) return at
        this.unwatch(scheduled)
        onDue()
        return Infinity
      }
    }
    if (delay !== Infinity) this.watch(scheduled, at)
    return scheduled
  }

  /** Makes sure that the next sweep is at this time or earlier. */
  set(at: number): void {
    if (at >= this.at) return
    this.at = at
    if (this.isSweeping) return
    const earlier = this.fiber
    this.fiber = EffectInternals.runFork(this.runtime, this.sleep)
    if (earlier !== undefined) EffectInternals.interrupt(earlier)
  }

  /** Sweeps now, unless the last sweep was less than `resolution` milliseconds ago. Returns whether it has swept. */
  catchUp(): boolean {
    const now = this.now()
    if (now - this.swept < this.resolution) return false
    this.sweep(now)
    return true
  }

  /**
   * Stops all sweeps for ever. Returns the fiber that slept, so that the caller can wait for the end of the fiber; `undefined` when no
   * fiber slept.
   */
  stop(): Fiber.RuntimeFiber<void> | undefined {
    this.at = -Infinity
    const { fiber } = this
    this.fiber = undefined
    if (fiber !== undefined) EffectInternals.interrupt(fiber)
    return fiber
  }

  private sweep(now: number): number {
    this.swept = now
    let next = Infinity
    for (const expirable of this.watched) {
      this.current = expirable
      next = Math.min(next, expirable.sweep(now))
    }
    return next === Infinity ? next : Math.max(next, now + this.resolution)
  }

  // When `sweep` of an object throws, that object is no longer watched. All other objects are still swept.
  private readonly sleep: Effect.Effect<void> = Effect.catchAllDefect(
    Effect.suspend(() => this.loop),
    (defect) =>
      Effect.suspend(() => {
        if (this.current !== undefined) this.watched.delete(this.current)
        this.isSweeping = false
        if (this.at !== -Infinity) this.at = this.now()
        return Effect.zipRight(Effect.logError("The callback of a deadline died", defect), this.sleep)
      })
  )

  private readonly loop: Effect.Effect<void> = Effect.whileLoop({
    while: () => Number.isFinite(this.at),
    body: () => Clock.sleep(Duration.millis(Math.min(Math.max(Math.ceil(this.at - this.now()), 0), LONGEST_SLEEP))),
    step: () => {
      const now = this.now()
      if (now < this.at) return
      this.at = Infinity
      this.isSweeping = true
      const next = this.sweep(now)
      this.isSweeping = false
      if (next < this.at) this.at = next
      if (this.at === Infinity) this.fiber = undefined
    }
  })
}

/** Makes a `Deadlines` that stops when the scope closes. `resolution` is the least time between two sweeps, in milliseconds. Default: 0. */
export const make = (resolution?: number): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.zipWith(
      EffectInternals.services,
      Effect.clock,
      (runtime, clock) => new Deadlines(runtime, clock, resolution)
    ),
    (deadlines) =>
      Effect.suspend(() => {
        const fiber = deadlines.stop()
        return fiber === undefined ? Effect.void : Fiber.await(fiber)
      })
  )
