/**
 * One sleeping fiber for any number of deadlines: who has deadlines keeps them, sets the alarm no later than the first,
 * and is asked to look when it rings.
 *
 * A timer per request would cost more than the request; this costs one number to compare. It reads Effect's `Clock`,
 * which is monotonic and which tests can turn.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"

// A timer of more than 2^31-1 milliseconds fires at once.
const LONGEST_SLEEP = 2 ** 30

/**
 * Milliseconds that a duration means for a deadline: never negative, `Infinity` for no deadline at all.
 *
 * @since 0.1.0
 * @category conversions
 */
export const millis = (duration: Duration.DurationInput): number => Duration.toMillis(Duration.decode(duration))

/**
 * @since 0.1.0
 * @category models
 */
export class DeadlineTimer {
  private at = Infinity
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private ringing = false
  private readonly runtime: Runtime.Runtime<never>

  constructor(
    runtime: Runtime.Runtime<never>,
    private readonly clock: Clock.Clock,
    /** Acts on what is due and says when to look again: `Infinity` for never. */
    private readonly ring: (now: number) => number
  ) {
    this.runtime = RuntimeFlags.isEnabled(runtime.runtimeFlags, RuntimeFlags.Interruption)
      ? runtime
      : Runtime.enableRuntimeFlag(runtime, RuntimeFlags.Interruption)
  }

  /** Milliseconds on a clock that nobody sets. */
  now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1_000_000
  }

  /** Rings at that time, or earlier. */
  set(at: number): void {
    if (at >= this.at) return
    this.at = at
    if (this.ringing) return
    const earlier = this.fiber
    this.fiber = Runtime.runFork(this.runtime, this.sleep)
    earlier?.unsafeInterruptAsFork(earlier.id())
  }

  /** Never rings again; gives the fiber that slept, to be waited for. */
  stop(): Fiber.RuntimeFiber<void> | undefined {
    this.at = -Infinity
    const { fiber } = this
    this.fiber = undefined
    fiber?.unsafeInterruptAsFork(fiber.id())
    return fiber
  }

  private readonly sleep: Effect.Effect<void> = Effect.whileLoop({
    while: () => Number.isFinite(this.at),
    body: () => Clock.sleep(Duration.millis(Math.min(Math.max(Math.ceil(this.at - this.now()), 0), LONGEST_SLEEP))),
    step: () => {
      const now = this.now()
      if (now < this.at) return
      this.at = Infinity
      this.ringing = true
      const next = this.ring(now)
      this.ringing = false
      if (next < this.at) this.at = next
      if (this.at === Infinity) this.fiber = undefined
    }
  })
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (ring: (now: number) => number): Effect.Effect<DeadlineTimer> =>
  Effect.flatMap(
    Effect.runtime<never>(),
    (runtime) => Effect.map(Effect.clock, (clock) => new DeadlineTimer(runtime, clock, ring))
  )
