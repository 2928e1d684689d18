/**
 * Any number of deadlines, and one fiber that sleeps until the first of them: the timeouts of calls and of commands, idle sessions,
 * stalled readers. Everything that expires knows its own deadline; a sweep calls all of it when one may be due.
 *
 * Mutable fields, because a timer per request (`Effect.timeout`) adds 39 µs to a call of 3 µs, and a sleeping fiber per session doubles
 * the memory of an idle session; here a later deadline costs one comparison. When Effect has a timeout at such a cost, and
 * test/kit/Deadlines and test/jsonrpc/runtime/Calls.deadlines pass on that timeout, this module can be deleted. `at` is the time of the
 * next sweep, `Infinity` for none and `-Infinity` after `stop`; a fiber sleeps exactly while `at` is finite.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "./EffectInternals.js"

// A timer of Node with more than 2^31-1 milliseconds fires at once: a longer sleep is divided.
const LONGEST_SLEEP = 2 ** 30

/** The milliseconds of a duration: never negative, `Infinity` for no deadline. */
export const millis = (duration: Duration.DurationInput): number =>
  Math.max(0, Duration.toMillis(Duration.decode(duration)))

export interface Expirable {
  /** Does what is due at this time, in milliseconds, and returns when to sweep again: `Infinity` for never. */
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
    /** The least time between two sweeps, in milliseconds. A deadline may be late by this time. */
    readonly resolution = 0
  ) {
    this.runtime = EffectInternals.interruptible(runtime)
  }

  /** How many things are watched. */
  get size(): number {
    return this.watched.size
  }

  /** The milliseconds of a clock that does not jump. Deadlines are times of this clock. */
  now(): number {
    return Number(EffectInternals.nanos(this.clock)) / 1_000_000
  }

  /** Sweeps `expirable` no later than at this time, and at each time that its `sweep` returns, until `unwatch`. */
  watch(expirable: Expirable, at: number): this {
    this.watched.add(expirable)
    this.set(at)
    return this
  }

  /** Stops sweeping `expirable`; `false` when it was not watched. */
  unwatch(expirable: Expirable): boolean {
    return this.watched.delete(expirable)
  }

  /** Calls back once after so many milliseconds, never for `Infinity`; `unwatch` cancels the callback. */
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

  /** Sweeps no later than at this time. */
  set(at: number): void {
    if (at >= this.at) return
    this.at = at
    if (this.isSweeping) return
    const earlier = this.fiber
    this.fiber = EffectInternals.runFork(this.runtime, this.sleep)
    if (earlier !== undefined) EffectInternals.interrupt(earlier)
  }

  /** Sweeps now, unless there was a sweep within the resolution. Gives whether it has swept. */
  catchUp(): boolean {
    const now = this.now()
    if (now - this.swept < this.resolution) return false
    this.sweep(now)
    return true
  }

  /** Never sweeps again. Returns the fiber that slept, so that the caller can wait for its end. */
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

  // An expirable that throws in its `sweep` is not watched any more. All others are still swept.
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

/** Deadlines that are kept until the scope closes. */
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
