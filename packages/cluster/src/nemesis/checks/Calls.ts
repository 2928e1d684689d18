/**
 * Checks these promises: Each call ends exactly once at its client, with its own answer. Its handler runs at most once, and does not run
 * when the server has refused the call. A session continues at another node. A node that has lost a session to another node says this to
 * the clients of its calls.
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

/** Finds calls whose session was forgotten. A session ends only when its client deletes the session, and no client of a run does this. */
const forgotten = (ended: ReadonlyArray<Ended>): Array<Violation> =>
  ended.flatMap(({ at, call, outcome, session }): Array<Violation> =>
    outcome.type !== "refused" || outcome.status !== 404 ? [] : [{
      promise: "a session goes on at another node",
      at,
      message: `${call} of session ${session} was refused with 404`
    }]
  )

/** How many milliseconds before a call a node may have begun to shut down. */
const SHUTDOWN = 8000

/**
 * Finds calls with the answer "Connection closed" whose session another node took over, although no node was shutting down. A node that
 * shuts down may give this answer. A node that has lost a session must give another answer.
 */
const unexplained = (history: History, ended: ReadonlyArray<Ended>): Array<Violation> => {
  const began = new Map(only(history, "Called").map(({ at, call }) => [call, at]))
  const takeovers = only(history, "Claimed").filter(({ epoch }) => epoch > 1)
  const drains = only(history, "Fault").filter(({ kind }) => kind === "drain")
  return ended.flatMap(({ at, call, outcome, session }): Array<Violation> => {
    if (outcome.type !== "error" || outcome.message !== "Connection closed") return []
    const from = began.get(call) ?? at
    const isLost = takeovers.some((claimed) => claimed.session === session && claimed.at > from && claimed.at < at)
    const isDrained = drains.some((drain) => drain.at > from - SHUTDOWN && drain.at < at)
    return !isLost || isDrained ? [] : [{
      promise: "a node that has lost a session says so",
      at,
      message: `${call} of session ${session} was answered with "${outcome.message}"`
    }]
  })
}

export const check = (history: History): Array<Violation> => {
  const all = only(history, "Ended")
  const ended = groupBy(all, ({ call }) => call)
  return [
    ...ends(only(history, "Called"), ended),
    ...crossed([...all, ...only(history, "Canary")]),
    ...foreign(history),
    ...repeated(history, ended),
    ...forgotten(all),
    ...unexplained(history, all)
  ]
}
