/**
 * One fiber for everything at an endpoint that time does something to: sessions that nobody uses, streams that have been
 * silent, readers that have stalled. Those keep their own deadlines and are asked now and then.
 *
 * While there is nothing to watch over it sleeps without an end.
 *
 * @since 0.1.0
 */
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/**
 * How many milliseconds it rests at least between two looks; so much later than said things may happen.
 *
 * @since 0.1.0
 * @category limits
 */
export const RESOLUTION = 1000

/**
 * @since 0.1.0
 * @category models
 */
export interface Expirable {
  /** Does what is due at this time, in milliseconds, and says when to be asked again: `Infinity` for never. */
  readonly sweep: (now: number) => number
}

/**
 * @since 0.1.0
 * @category models
 */
export class Sweeper {
  private readonly watched = new Set<Expirable>()

  constructor(private readonly alarm: DeadlineTimer.DeadlineTimer) {}

  /** How much is being watched over. */
  get size(): number {
    return this.watched.size
  }

  /** Milliseconds on a clock that nobody sets. */
  now(): number {
    return this.alarm.now()
  }

  /** Asks it no later than at that time, and whenever it says, until it is let go. */
  watch(one: Expirable, at: number): void {
    this.watched.add(one)
    this.alarm.set(at)
  }

  letGo(one: Expirable): void {
    this.watched.delete(one)
  }

  /** @internal */
  ring(now: number): number {
    let next = Infinity
    for (const one of this.watched) next = Math.min(next, one.sweep(now))
    return next === Infinity ? next : Math.max(next, now + RESOLUTION)
  }
}

/**
 * A sweeper that works until the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Sweeper, never, Scope.Scope> = Effect.suspend(() => {
  let sweeper: Sweeper | undefined
  return Effect.acquireRelease(
    DeadlineTimer.make((now) => sweeper?.ring(now) ?? Infinity),
    (alarm) =>
      Effect.suspend(() => {
        const fiber = alarm.stop()
        return fiber === undefined ? Effect.void : Fiber.await(fiber)
      })
  ).pipe(Effect.map((alarm) => sweeper = new Sweeper(alarm)))
})
