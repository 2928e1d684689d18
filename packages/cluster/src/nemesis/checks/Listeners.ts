/**
 * A change that the bus has acknowledged reaches every client that listened before it and goes on listening. A change may come more
 * than once, and late; a listener whose connection is lost reads everything again.
 */
import type { History } from "../History.js"
import { groupBy, only } from "../History.js"
import type { Violation } from "./Violation.js"

/** A change must arrive within so many milliseconds: longer than any fault lasts. */
export const WITHIN = 12_000

/** A node notifies its own clients before it publishes the change, which may wait for the store. In milliseconds. */
const EARLY = 5000

export const check = (history: History): Array<Violation> => {
  const heard = groupBy(only(history, "Heard"), ({ listener }) => listener)
  const deaf = new Map(only(history, "Deaf").map(({ at, listener }) => [listener, at]))
  const end = Math.max(0, ...history.map(({ at }) => at))
  return only(history, "Published").filter(({ isAcknowledged }) => isAcknowledged).flatMap(({ at, begin, node, uri }) =>
    only(history, "Listening").flatMap((listening): Array<Violation> => {
      const until = at + WITHIN
      const isOpen = listening.at < begin - EARLY && (deaf.get(listening.listener) ?? Infinity) > until && until <= end
      if (!isOpen) return []
      const isHeard = heard.get(listening.listener)?.some((one) =>
        one.uri === uri && one.at >= begin - EARLY && one.at <= until
      )
      return isHeard === true ? [] : [{
        promise: "changes reach every listener",
        at,
        message: `${listening.listener} has not heard that ${uri} has changed at ${node}`
      }]
    })
  )
}
