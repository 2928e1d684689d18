/**
 * How an `Endpoint` drains before it closes. The endpoint begins nothing new, and waits until everything that runs has ended. Where other
 * nodes serve its clients, the endpoint then refuses requests until no more requests arrive: by then the proxies send requests to the other
 * nodes. `Stages` counts the requests that arrive, `HttpTransports` refuses new sessions.
 *
 * Two fields are mutable: `hasBegun` turns true once, and the endpoint counts in `arrived` the requests that have arrived.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as TimeLimit from "../../kit/TimeLimit.js"

export interface Draining {
  hasBegun: boolean
  /** How many requests have arrived. */
  arrived: number
  /** Drains the endpoint, for at most `timeout`. Does nothing when draining has begun before. */
  readonly run: Effect.Effect<void>
}

export const make = (parts: {
  /** In milliseconds. */
  readonly timeout: number
  readonly hasOthers: boolean
  readonly begin: () => void
  /** Ends everything that can end now. Gives `true` when nothing runs any more. */
  readonly release: () => boolean
}): Draining => {
  const { begin, hasOthers, release, timeout } = parts
  const released = Effect.repeat(Effect.sync(release), { until: (is) => is, schedule: Schedule.spaced("20 millis") })
  // The endpoint does not close earlier, because a connection that it closes may carry a request that it has not read yet.
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

/** How long requests may go on by default, in milliseconds, where other nodes serve the endpoint, too. */
export const TIMEOUT = 5000

/**
 * When no request has arrived during this pause, no more requests are expected. The pause spans several turns of the event loop, because
 * after a long turn there may be requests that the process has not read yet.
 */
const pause = Effect.repeatN(Effect.sleep("20 millis"), 9)
