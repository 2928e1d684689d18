/**
 * A change that the bus has acknowledged reaches every client that listened before it and goes on listening. A change may come more
 * than once, and late; a listener whose connection is lost reads everything again.
 */
import { groupBy, type History, only } from "../History.js"
import type { Violation } from "./Violation.js"

/** A change must arrive within so many milliseconds: longer than any fault lasts. */
export const WITHIN = 12_000

/** A node notifies its own clients before it publishes the change, which may wait for the store. In milliseconds. */
const EARLY = 5000

/** The changes that must reach a listener, and when. */
export const expected = (history: History) => {
  const deaf = new Map(only(history, "Deaf").map(({ at, listener }) => [listener, at]))
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
  return expected(history).flatMap(({ at, from, listener, node, until, uri }): Array<Violation> => {
    const isHeard = heard.get(listener)?.some((one) => one.uri === uri && one.at >= from && one.at <= until)
    return isHeard === true ? [] : [{
      promise: "changes reach every listener",
      at,
      message: `${listener} has not heard that ${uri} has changed at ${node}`
    }]
  })
}
