/**
 * One timer for everything of an endpoint that expires: idle sessions, silent streams, stalled readers. Each
 * of them has its own deadline; the sweeper calls its `sweep` when that may have passed, at most once in `RESOLUTION`.
 *
 * A mutable set, the time of the last sweep, and one fiber, which sleeps without a deadline while nothing is watched: with a
 * sleeping fiber for each session and stream (`Effect.sleep`, `Schedule`) an idle session would take twice its memory.
 */
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/kit/DeadlineTimer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** The least time between two sweeps, in milliseconds; a deadline may be late by as much. */
export const RESOLUTION = 1000

export interface Expirable {
  /** Does what is due at this time, in milliseconds, and returns when to sweep again: `Infinity` for never. */
  readonly sweep: (now: number) => number
}

export class Sweeper {
  private readonly watched = new Set<Expirable>()
  private swept = -Infinity

  constructor(private readonly timer: DeadlineTimer.DeadlineTimer) {}

  /** How many things are watched. */
  get size(): number {
    return this.watched.size
  }

  /** Milliseconds of a monotonic clock. */
  now(): number {
    return this.timer.now()
  }

  /** Sweeps it no later than at that time, and whenever `sweep` returns, until `unwatch`. */
  watch(expirable: Expirable, at: number): void {
    this.watched.add(expirable)
    this.timer.set(at)
  }

  unwatch(expirable: Expirable): void {
    this.watched.delete(expirable)
  }

  /** Calls back once after so many milliseconds, never for `Infinity`; `unwatch` cancels it. */
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

  /** Sweeps for one of many other timers, unless there was a sweep within `RESOLUTION`. Gives whether it has swept. */
  catchUp(): boolean {
    const now = this.now()
    if (now - this.swept < RESOLUTION) return false
    this.sweep(now)
    return true
  }

  sweep(now: number): number {
    this.swept = now
    let next = Infinity
    for (const expirable of this.watched) next = Math.min(next, expirable.sweep(now))
    return next === Infinity ? next : Math.max(next, now + RESOLUTION)
  }
}

/** A sweeper that works until the scope closes. */
export const make: Effect.Effect<Sweeper, never, Scope.Scope> = Effect.suspend(() => {
  let sweeper: Sweeper | undefined
  return Effect.acquireRelease(
    DeadlineTimer.make((now) => sweeper?.sweep(now) ?? Infinity),
    (timer) =>
      Effect.suspend(() => {
        const fiber = timer.stop()
        return fiber === undefined ? Effect.void : Fiber.await(fiber)
      })
  ).pipe(Effect.map((timer) => sweeper = new Sweeper(timer)))
})
