/**
 * Each call ends exactly once at its client, with an answer that is its own, and its handler runs at most once: not at all when
 * the server has refused the call.
 */
import { type Called, type Canary, type Ended, groupBy, type History, only } from "../History.js"
import type { Violation } from "./Violation.js"

const ends = (called: ReadonlyArray<Called>, ended: Map<string, Array<Ended>>): Array<Violation> =>
  called.flatMap(({ at, call, client }): Array<Violation> => {
    const count = ended.get(call)?.length ?? 0
    return count === 1
      ? []
      : [{ promise: "every call ends once", at, message: `${call} of ${client} has ended ${count} times` }]
  })

const crossed = (ended: ReadonlyArray<Ended | Canary>): Array<Violation> =>
  ended.flatMap(({ at, call, client, outcome }): Array<Violation> =>
    outcome?.type !== "result" || (outcome.echo === call && outcome.served === client) ? [] : [{
      promise: "an answer belongs to its client",
      at,
      message: `${call} of ${client} was answered with the result of ${outcome.echo} of ${outcome.served}`
    }]
  )

const foreign = (history: History): Array<Violation> =>
  [...only(history, "Received"), ...only(history, "Seen")].flatMap(({ at, client, data, madeFor }): Array<Violation> =>
    madeFor === undefined || madeFor === client ? [] : [{
      promise: "an answer belongs to its client",
      at,
      message: `${client} has received a message of ${madeFor}: ${data.slice(0, 200)}`
    }]
  )

const repeated = (history: History, ended: Map<string, Array<Ended>>): Array<Violation> =>
  [...groupBy(only(history, "Started"), ({ call }) => call)].flatMap(([call, runs]): Array<Violation> => {
    const [{ outcome } = { outcome: undefined }] = ended.get(call) ?? []
    const { at } = runs[0]!
    const nodes = runs.map(({ node }) => node).join(" and ")
    if (runs.length > 1) return [{ promise: "a handler runs once", at, message: `${call} has run at ${nodes}` }]
    return outcome?.type === "refused"
      ? [{
        promise: "a handler runs once",
        at,
        message: `${call} has run at ${nodes}, and was refused with ${outcome.status}`
      }]
      : []
  })

/** A session ends when its client deletes it, which no client of a run does. */
const forgotten = (ended: ReadonlyArray<Ended>): Array<Violation> =>
  ended.flatMap(({ at, call, outcome, session }): Array<Violation> =>
    outcome.type !== "refused" || outcome.status !== 404 ? [] : [{
      promise: "a session goes on at another node",
      at,
      message: `${call} of session ${session} was refused with 404`
    }]
  )

export const check = (history: History): Array<Violation> => {
  const all = only(history, "Ended")
  const ended = groupBy(all, ({ call }) => call)
  return [
    ...ends(only(history, "Called"), ended),
    ...crossed([...all, ...only(history, "Canary")]),
    ...foreign(history),
    ...repeated(history, ended),
    ...forgotten(all)
  ]
}
