/**
 * One sleeping fiber for any number of deadlines. The owner of a timer, such as `Calls`, has the list of deadlines
 * and sets the timer to the first of them; the timer calls the owner at that time. It reads Effect's `Clock`, which
 * tests can control.
 *
 * A class with mutable fields, because a timer per request (`Effect.timeout`) adds 39 µs to a call of 3 µs, and setting
 * a later deadline here is one comparison. When Effect has a timeout at such a cost, and test/runtime/Calls.deadlines passes on
 * it, this part can be deleted. `at` is the next deadline, `Infinity` for none and `-Infinity` after `stop`;
 * a fiber sleeps exactly while `at` is finite, except while the callback runs.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"

// A timer of Node with more than 2^31-1 milliseconds fires at once: a longer sleep is divided.
const LONGEST_SLEEP = 2 ** 30

/** The milliseconds of a duration: never negative, `Infinity` for no deadline. */
export const millis = (duration: Duration.DurationInput): number => Duration.toMillis(Duration.decode(duration))

/** Handles the deadlines that are due and returns the next one, or `Infinity`. */
export type OnDeadline = (now: number) => number

export class DeadlineTimer {
  private at = Infinity
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private inCallback = false
  private readonly runtime: Runtime.Runtime<never>

  constructor(
    runtime: Runtime.Runtime<never>,
    private readonly clock: Clock.Clock,
    private readonly onDeadline: OnDeadline
  ) {
    this.runtime = RuntimeFlags.isEnabled(runtime.runtimeFlags, RuntimeFlags.Interruption)
      ? runtime
      : Runtime.enableRuntimeFlag(runtime, RuntimeFlags.Interruption)
  }

  /** The time of the clock, in milliseconds. Deadlines are times of this clock. */
  now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1_000_000
  }

  /** Makes the timer call back at this time, unless it is already set to an earlier one. */
  set(at: number): void {
    if (at >= this.at) return
    this.at = at
    if (this.inCallback) return
    const earlier = this.fiber
    this.fiber = Runtime.runFork(this.runtime, this.sleep)
    earlier?.unsafeInterruptAsFork(earlier.id())
  }

  /** Never calls back again. Returns the fiber that slept, so that the caller can wait for its end. */
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
      this.inCallback = true
      const next = this.onDeadline(now)
      this.inCallback = false
      if (next < this.at) this.at = next
      if (this.at === Infinity) this.fiber = undefined
    }
  })
}

export const make = (onDeadline: OnDeadline): Effect.Effect<DeadlineTimer> =>
  Effect.zipWith(
    Effect.runtime<never>(),
    Effect.clock,
    (runtime, clock) => new DeadlineTimer(runtime, clock, onDeadline)
  )
