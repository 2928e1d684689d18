/**
 * How an `Endpoint` drains before it closes: the endpoint begins nothing new, and waits until what runs has ended. Where other nodes serve
 * its clients, the endpoint then goes on to refuse requests until none arrives any more: by then the proxies send requests to the other
 * nodes. `Stages` counts the requests that arrive, `HttpTransports` refuses new sessions.
 *
 * Two fields are mutable: `hasBegun` turns true once, and the endpoint counts the requests that have `arrived`.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as TimeLimit from "../../kit/TimeLimit.js"

export interface Draining {
  hasBegun: boolean
  /** How many requests have arrived. */
  arrived: number
  /** Drains, for at most `timeout`. Does nothing when it has begun before. */
  readonly run: Effect.Effect<void>
}

export const make = (parts: {
  /** In milliseconds. */
  readonly timeout: number
  readonly hasOthers: boolean
  readonly begin: () => void
  /** Whether nothing runs any more. Ends what can end. */
  readonly release: () => boolean
}): Draining => {
  const { begin, hasOthers, release, timeout } = parts
  const released = Effect.repeat(Effect.sync(release), { until: (is) => is, schedule: Schedule.spaced("20 millis") })
  // Not earlier: a connection that the endpoint closes may carry a request that it has not read.
  const isQuiet = Effect.suspend(() => {
    const before = draining.arrived
    return Effect.map(pause, () => draining.arrived === before)
  })
  const quiet = hasOthers ? Effect.repeat(isQuiet, { until: (is) => is }) : Effect.void
  const draining: Draining = {
    hasBegun: false,
    arrived: 0,
    run: Effect.suspend(() => {
      if (draining.hasBegun || timeout === 0) return Effect.void
      draining.hasBegun = true
      begin()
      return Effect.asVoid(TimeLimit.end(Effect.zipRight(released, quiet), timeout))
    })
  }
  return draining
}

/** How long requests may go on by default, in milliseconds, where other nodes serve new requests. */
export const TIMEOUT = 5000

/**
 * When no request has arrived for this long, no more requests are expected. The time spans several turns of the event loop: after a long
 * turn, requests may wait that the process has not read.
 */
const pause = Effect.repeatN(Effect.sleep("20 millis"), 9)
