/**
 * Effect's clock, which a node of a run sets forward and back on signals of the nemesis. A jump does not change timers: a sleep lasts as
 * long as before.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface JumpingClock {
  readonly clock: Clock.Clock
  /** Sets the clock forward by so many milliseconds; a negative number sets it back. */
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
