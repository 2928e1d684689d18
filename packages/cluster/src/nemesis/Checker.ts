/**
 * Decides from the history of a run whether the server has kept its promises. The same history always gives the same violations. Each
 * module in `checks` checks some promises. This module checks the canaries, and whether the run has tested anything. (A canary is a small
 * request that a client sends again and again.)
 */
import * as Calls from "./checks/Calls.js"
import * as Data from "./checks/Data.js"
import * as Exits from "./checks/Exits.js"
import * as Listeners from "./checks/Listeners.js"
import * as Owners from "./checks/Owners.js"
import { slowness } from "./checks/Pace.js"
import * as Streams from "./checks/Streams.js"
import type { Violation } from "./checks/Violation.js"
import { type Canary, type History, only } from "./History.js"

export interface Limits {
  /**
   * How many milliseconds may pass from the end of a process to the answer of another node. The limit is higher while the machine is slow
   * (`Pace`).
   */
  readonly maxTakeover: number
  /** The largest share of canaries without an answer. The limit is higher when the machine is slow during the run. */
  readonly maxCanaryErrors: number
  /** How many calls must have a result. With fewer results the run does not count. */
  readonly minResults: number
  /** How many faults there must be. With fewer faults the run does not count. */
  readonly minFaults: number
}

export const LIMITS: Limits = { maxTakeover: 5000, maxCanaryErrors: 0.01, minResults: 100, minFaults: 40 }

const isLost = ({ outcome }: Canary): boolean => outcome?.type !== "result"

/**
 * How many canaries may be lost for each fault on any machine. These are the canaries at the node when it is killed or stopped. On a slow
 * machine a fault loses the same number, but there are fewer canaries in all, so the share is larger.
 */
const LOST_BY_FAULT = 0.3

/** Returns the share of canaries without an answer. */
export const canaryErrors = (history: History): number => {
  const canaries = only(history, "Canary")
  return canaries.length === 0 ? 1 : canaries.filter(isLost).length / canaries.length
}

const canary = (history: History, { maxCanaryErrors }: Limits): Array<Violation> => {
  const share = canaryErrors(history)
  const all = only(history, "Canary")
  const lost = all.filter(isLost)
  const limit = maxCanaryErrors * slowness(history, all[0]?.at ?? 0, all.at(-1)?.at ?? 0)
  const isFew = share < 1 && lost.length <= LOST_BY_FAULT * only(history, "Fault").length
  return share <= limit || isFew ? [] : [{
    promise: "a client that no fault concerns is served",
    at: lost[0]?.at ?? 0,
    message: `${(share * 100).toFixed(2)} % of the canaries had no answer`
  }]
}

/** The kinds of entries that each run with sessions must have. When one of these kinds is missing, a check cannot find anything. */
const WITNESSES = ["Claimed", "Followed", "Heard", "Published", "Received", "Started", "Written"] as const

const coverage = (history: History, { minFaults, minResults }: Limits): Array<Violation> => {
  const results = only(history, "Ended").filter(({ outcome }) => outcome.type === "result").length
  const faults = only(history, "Fault")
  const untested = (message: string): Violation => ({ promise: "the run has tested something", at: 0, message })
  const missing = minResults === 0 ? [] : WITNESSES.filter((tag) => only(history, tag).length === 0)
  // Faults of data do not move sessions to other nodes, so no node has lost a session.
  const isStill = faults.length > 0 && faults.every(({ kind }) => Data.KINDS.has(kind))
  const isTaken = !faults.some(({ kind }) => kind === "kill") || Owners.takeovers(history).length > 0
  return [
    ...results >= minResults && faults.length >= minFaults
      ? []
      : [untested(`only ${results} calls had a result, and there were ${faults.length} faults`)],
    ...missing.map((tag) => untested(`nothing is written down as "${tag}"`)),
    ...minResults === 0 || Listeners.expected(history).length > 0
      ? []
      : [untested("no client has listened for long enough")],
    ...minResults === 0 || isTaken ? [] : [untested("no session had a client that waited for its killed node")],
    ...minResults === 0 || isStill || Owners.stale(history).length > 0
      ? []
      : [untested("no former owner of a session has written")]
  ]
}

export const check = (history: History, limits: Limits = LIMITS): ReadonlyArray<Violation> =>
  [
    ...Calls.check(history),
    ...Streams.check(history),
    ...Owners.check(history, limits.maxTakeover),
    ...Listeners.check(history),
    ...Exits.check(history),
    ...Data.check(history),
    ...canary(history, limits),
    ...coverage(history, limits)
  ].sort((a, b) => a.at - b.at)
