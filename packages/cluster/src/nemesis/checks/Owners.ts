/**
 * Checks the owners of sessions. The owner of a session is the node that serves it. Each time another node claims the session, a new epoch
 * begins, and a session has one owner in each epoch. After a node serves a session in a later epoch, no write of an earlier epoch is
 * stored. When the process of an owner is killed, another node answers its clients within a few seconds. The limit is higher when the
 * canaries had to wait longer as well.
 */
import { type Claimed, groupBy, type History, only, type Time, type Written } from "../History.js"
import { slowness } from "./Pace.js"
import type { Violation } from "./Violation.js"

const shared = (session: string, claims: ReadonlyArray<Claimed>): Array<Violation> =>
  [...groupBy(claims, ({ epoch }) => `${epoch}`)].flatMap(([epoch, owners]): Array<Violation> =>
    owners.length === 1 ? [] : [{
      promise: "the writes of a former owner are refused",
      at: owners[0]!.at,
      message: `epoch ${epoch} of session ${session} was claimed by ${owners.map(({ node }) => node).join(" and ")}`
    }]
  )

/** Returns the writes of an earlier epoch that began after a later epoch of their session had begun. */
export const stale = (history: History): Array<Written> => {
  const claims = groupBy(only(history, "Claimed"), ({ session }) => session)
  return [...groupBy(only(history, "Written"), ({ session }) => session)].flatMap(([session, writes]) => {
    const stored = writes.filter(({ answer }) => answer === "stored")
    const begun = [...claims.get(session) ?? [], ...stored].sort((a, b) => a.at - b.at)
    let latest = 0
    let at = 0
    return writes.sort((a, b) => a.begin - b.begin).filter(({ begin, epoch }) => {
      for (; at < begun.length && begun[at]!.at < begin; at++) latest = Math.max(latest, begun[at]!.epoch)
      return epoch < latest
    })
  })
}

/**
 * Returns how many milliseconds passed until another node answered. There is one element for each session of a killed node for which a call
 * came shortly after the kill. `took` is `undefined` when no node answered.
 */
export const takeovers = (history: History): Array<{ at: Time; session: string; took: number | undefined }> => {
  const claims = groupBy(only(history, "Claimed"), ({ session }) => session)
  const calls = groupBy(only(history, "Called"), ({ session }) => session ?? "")
  const ends = groupBy(only(history, "Ended"), ({ session }) => session ?? "")
  return only(history, "Fault").filter(({ kind }) => kind === "kill").flatMap(({ at, node }) =>
    [...claims].flatMap(([session, owners]) => {
      const owner = owners.filter((claim) => claim.at < at).at(-1)
      // A node takes a session over only when a request of the session comes.
      const isUsed = calls.get(session)?.some((call) => call.at > at && call.at < at + 1000) === true
      if (owner?.node !== node || !isUsed) return []
      const answer = ends.get(session)?.find((end) => end.at > at && isAnswerOf(end.outcome, owners, at))
      return [{ at, session, took: answer === undefined ? undefined : answer.at - at }]
    })
  )
}

/** Returns whether an outcome is the result of a node that has claimed the session after this time. */
const isAnswerOf = (
  outcome: { readonly type: string; readonly node?: string },
  claims: ReadonlyArray<Claimed>,
  after: Time
): boolean => outcome.type === "result" && claims.some(({ at, node }) => at > after && node === outcome.node)

/** Returns the node that has given the latest answer in the greatest number of sessions. */
export const busiest = (history: History): string | undefined => {
  const last = new Map(
    only(history, "Ended").flatMap(({ outcome, session }) =>
      outcome.type === "result" && session !== undefined ? [[session, outcome.node] as const] : []
    )
  )
  const [busiest] = [...groupBy([...last.values()], (node) => node)].sort(([, a], [, b]) => b.length - a.length)
  return busiest?.[0]
}

export const check = (history: History, maxTakeover: number): Array<Violation> => [
  ...[...groupBy(only(history, "Claimed"), ({ session }) => session)].flatMap(([session, claims]) =>
    shared(session, claims)
  ),
  ...stale(history).flatMap(({ answer, at, epoch, event, node, session }): Array<Violation> =>
    answer !== "stored" ? [] : [{
      promise: "the writes of a former owner are refused",
      at,
      message:
        `${node} has written ${
          event?.data.slice(0, 200) ?? "facts, or the beginning of a stream,"
        } to session ${session} in epoch ${epoch}, ` +
        "after a later epoch had begun"
    }]
  ),
  ...takeovers(history).flatMap(({ at, session, took }): Array<Violation> =>
    took !== undefined && (took <= maxTakeover || took <= maxTakeover * slowness(history, at, at + took)) ? [] : [{
      promise: "another node takes over in time",
      at,
      message: took === undefined
        ? `no node has answered clients of session ${session} after its node was killed`
        : `session ${session} was without an answer for ${Math.round(took)} ms after its node was killed`
    }]
  )
]
