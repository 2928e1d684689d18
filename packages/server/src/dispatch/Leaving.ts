/**
 * How an endpoint leaves before it closes: it begins nothing new, and waits until what runs has ended. Where other nodes serve its
 * clients, it refuses requests until none arrives any more, because proxies send them to the other nodes.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

export interface Leaving {
  readonly hasBegun: () => boolean
  /** A request has arrived. */
  readonly onRequest: () => void
  /** Leaves, for a time at most. Does nothing the second time. */
  readonly run: Effect.Effect<void>
}

export const make = (parts: {
  /** In milliseconds. */
  readonly timeout: number
  readonly hasOthers: boolean
  readonly begin: () => void
  /** Whether nothing runs any more. Ends what can end. */
  readonly release: () => boolean
}): Leaving => {
  const { begin, hasOthers, release, timeout } = parts
  let hasBegun = false
  let arrived = 0
  const released = Effect.repeat(Effect.sync(release), { until: (is) => is, schedule: Schedule.spaced("20 millis") })
  // A connection that is closed before could have a request.
  const isQuiet = Effect.suspend(() => {
    const before = arrived
    return Effect.map(quietly, () => arrived === before)
  })
  const quiet = hasOthers ? Effect.repeat(isQuiet, { until: (is) => is }) : Effect.void
  return {
    hasBegun: () => hasBegun,
    onRequest: () => {
      arrived++
    },
    run: Effect.suspend(() => {
      if (hasBegun || timeout === 0) return Effect.void
      hasBegun = true
      begin()
      const left = Effect.interruptible(Effect.disconnect(Effect.zipRight(released, quiet)))
      return Effect.asVoid(Effect.timeoutOption(left, timeout))
    })
  }
}

/** How long requests may go on by default, in milliseconds, where other nodes serve new ones. */
export const TIMEOUT = 5000

/**
 * How long no request has arrived when an endpoint has left the others. In many turns of the event loop: after one that took long,
 * requests may wait that the process has not read.
 */
const quietly = Effect.repeatN(Effect.sleep("20 millis"), 9)
