/**
 * A clock for Effect that a node of a run sets forward and back when the nemesis (the program that makes the faults) sends a signal. A jump
 * does not change timers, so a sleep has the same length.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface JumpingClock {
  readonly clock: Clock.Clock
  /** Sets the clock forward by this number of milliseconds. A negative number sets the clock back. */
  readonly jump: (millis: number) => void
}

export const make = (): JumpingClock => {
  const real = Clock.make()
  let offset = 0
  const millis = () => real.unsafeCurrentTimeMillis() + offset
  const nanos = () => real.unsafeCurrentTimeNanos() + BigInt(offset) * 1_000_000n
  return {
    clock: {
      ...real,
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: millis,
      unsafeCurrentTimeNanos: nanos,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanos: Effect.sync(nanos),
      sleep: (duration) => real.sleep(duration)
    },
    jump: (by) => {
      offset += by
    }
  }
}
