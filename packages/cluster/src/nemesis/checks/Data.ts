/**
 * Checks three promises. First, no node loses its sessions because of the data that clients send or that the store has. Second, the client
 * of a call that never ran does not get the answer that the outcome is unknown. Third, a request with a wrong token gets status 401. The
 * first two promises are checked only when there is no other fault at about the same time, because a fault that ends a node or cuts its
 * connections has the same effects.
 */
import { type History, only, type Time } from "../History.js"
import { slowness } from "./Pace.js"
import type { Violation } from "./Violation.js"

/** The faults for which the first promise is checked. */
export const KINDS: ReadonlySet<string> = new Set([
  "full store",
  "read-only store",
  "flood",
  "bulk uploads",
  "odd entry"
])

/**
 * For how many milliseconds another fault has effects. For the same time after one of these faults, a takeover counts as an effect of this
 * fault.
 */
const NEAR = 8000

/**
 * When the machine is slower than usual by more than this factor, a node may lose its lease. Then the first two promises are not checked.
 */
const SLOW = 1.5

const isNear = (history: History, from: Time, until: Time): boolean =>
  only(history, "Fault").some(({ at, kind }) => !KINDS.has(kind) && at > from - NEAR && at < until)

const takeovers = (history: History, from: Time, until: Time) =>
  only(history, "Claimed").filter(({ at, epoch }) => epoch > 1 && at > from && at < until)

const moved = (history: History): Array<Violation> =>
  only(history, "Fault").filter(({ kind }) => KINDS.has(kind)).flatMap(({ at, kind }) =>
    isNear(history, at, at + NEAR) || slowness(history, at, at + NEAR) > SLOW
      ? []
      : takeovers(history, at, at + NEAR).map(({ at, node, session }): Violation => ({
        promise: "no node loses its sessions because of what is sent or stored",
        at,
        message: `${node} has taken session ${session} over after the fault "${kind}"`
      }))
  )

/** The code of the error that says that the outcome is not known. */
const UNKNOWN = -32000

const doubted = (history: History): Array<Violation> => {
  const started = new Set(only(history, "Started").map(({ call }) => call))
  const began = new Map(only(history, "Called").map(({ at, call }) => [call, at]))
  return only(history, "Ended").flatMap(({ at, call, outcome }): Array<Violation> => {
    if (outcome.type !== "error" || outcome.code !== UNKNOWN || started.has(call)) return []
    const from = began.get(call) ?? at
    // The node that had the call in its inbox has lost the session, so it cannot know the outcome.
    const isLost = takeovers(history, from, at + NEAR).length > 0
    return isLost || isNear(history, from, at) || slowness(history, from, at) > SLOW
      ? []
      : [{
        promise: "a call that never ran is refused",
        at,
        message: `${call} never ran, and its client was told that this is not known`
      }]
  })
}

const admitted = (history: History): Array<Violation> =>
  only(history, "Flooded").flatMap(({ at, status }): Array<Violation> =>
    status === 401 ? [] : [{
      promise: "a request with a wrong token is refused for that",
      at,
      message: `a request with a wrong token was answered with ${status}`
    }]
  )

export const check = (history: History): Array<Violation> => [
  ...moved(history),
  ...doubted(history),
  ...admitted(history)
]
