/**
 * Checks that a change reaches every listening client. The bus must have acknowledged the change, and the client must have listened before
 * the change and must still listen. A change may come more than once, and late. A listener whose connection is lost reads everything again.
 */
import { groupBy, type History, only, type Time } from "../History.js"
import { slowness } from "./Pace.js"
import type { Violation } from "./Violation.js"

/**
 * A change must arrive within this number of milliseconds. This is longer than any fault lasts. The limit is higher while the machine is
 * slow (`Pace`).
 */
export const WITHIN = 12_000

/**
 * How many milliseconds before the publication a client may get a change. A node notifies its own clients before it publishes the change,
 * and the publication may wait for the store.
 */
const EARLY = 5000

/** Returns the time at which the stream of each listener has ended. */
const ends = (history: History): ReadonlyMap<string, Time> =>
  new Map(only(history, "Deaf").map(({ at, listener }) => [listener, at]))

/** Returns the changes that must reach a listener, each with the listener and the time. */
export const expected = (history: History) => {
  const deaf = ends(history)
  const end = Math.max(0, ...history.map(({ at }) => at))
  return only(history, "Published").filter(({ isAcknowledged }) => isAcknowledged).flatMap(({ at, begin, node, uri }) =>
    only(history, "Listening").flatMap((listening) => {
      const [from, until] = [begin - EARLY, at + WITHIN]
      const isOpen = listening.at < from && (deaf.get(listening.listener) ?? Infinity) > until && until <= end
      return isOpen ? [{ at, from, until, node, uri, listener: listening.listener }] : []
    })
  )
}

export const check = (history: History): Array<Violation> => {
  const heard = groupBy(only(history, "Heard"), ({ listener }) => listener)
  const deaf = ends(history)
  return expected(history).flatMap(({ at, from, listener, node, until, uri }): Array<Violation> => {
    const isHeard = (limit: Time) =>
      heard.get(listener)?.some((one) => one.uri === uri && one.at >= from && one.at <= limit) === true
    if (isHeard(until)) return []
    const late = at + WITHIN * slowness(history, at, until)
    return isHeard(late) || (deaf.get(listener) ?? Infinity) < late ? [] : [{
      promise: "changes reach every listener",
      at,
      message: `${listener} has not heard that ${uri} has changed at ${node}`
    }]
  })
}
