/**
 * Drains an `Endpoint` before the endpoint closes. A draining endpoint starts no new requests, and waits until all running requests have
 * ended. When other nodes serve the same clients, the endpoint then refuses new requests until no more requests arrive. During this time,
 * proxies notice that they must send requests to the other nodes. `Stages` counts the requests that arrive, and `HttpTransports` refuses
 * new sessions.
 *
 * Two fields are mutable. `hasBegun` turns true when draining begins. `arrived` is the number of requests that have arrived, and `Stages`
 * increments this number.
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
  /** Ends all streams and sessions without a running request. Gives `true` when no request runs any more. */
  readonly release: () => boolean
}): Draining => {
  const { begin, hasOthers, release, timeout } = parts
  const released = Effect.repeat(Effect.sync(release), { until: (is) => is, schedule: Schedule.spaced("20 millis") })
  // The endpoint does not close earlier, because an open connection may contain a request that the endpoint has not read yet.
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

/** The default of `drainTimeout` on a server with several nodes, in milliseconds. */
export const TIMEOUT = 5000

/**
 * When no request arrives during this pause, the endpoint expects no more requests. The pause lasts for several turns of the event loop,
 * because after a long turn the process may not have read all requests.
 */
const pause = Effect.repeatN(Effect.sleep("20 millis"), 9)
