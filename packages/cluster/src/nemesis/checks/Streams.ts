/**
 * Checks the streams. A client gets the events of a stream in order and once. When the client has followed the stream to its end, it has
 * got all events that the store has acknowledged. An event that the store has refused has no id, and two events never have the same id. A
 * server that has lost events refuses to resume the stream. The server may refuse this only when the store did not answer a write or the
 * beginning of the stream.
 */
import { groupBy, type History, only, type Received, type Written } from "../History.js"
import type { Violation } from "./Violation.js"

const PROMISE = "acknowledged events arrive once and in order"

const STANDALONE = "g"

const nameOf = ({ session, stream }: { readonly session: string; readonly stream: string }) => `${session} ${stream}`

const disordered = (name: string, received: ReadonlyArray<Received>): Array<Violation> =>
  received.flatMap(({ at, client, position }, n): Array<Violation> => {
    const last = received[n - 1]
    if (last === undefined || last.position < position) return []
    const what = last.position === position ? "twice" : `after ${last.position}`
    return [{ promise: PROMISE, at, message: `${client} has received event ${position} of stream ${name} ${what}` }]
  })

const lost = (
  name: string,
  written: ReadonlyArray<Written>,
  received: ReadonlyArray<Received>
): Array<Violation> => {
  const found = new Map(received.map((event) => [event.position, event]))
  // Up to revision 2025-06-18 a client cannot resume its standalone stream before it has received the id of an event.
  const first = received[0]?.stream === STANDALONE ? received[0].position : 0
  return written.flatMap(({ answer, at, event, node }): Array<Violation> => {
    if (answer !== "stored" || event === undefined || event.position < first) return []
    const own = found.get(event.position)
    if (own?.data === event.data) return []
    const what = own === undefined ? "has not reached its client" : "has reached its client with another content"
    return [{
      promise: PROMISE,
      at,
      message: `event ${event.position} of stream ${name}, stored by ${node}, ${what}: ${event.data.slice(0, 200)}`
    }]
  })
}

/**
 * Returns the events that a client has received and that the store has refused each time. One refusal is not enough. When the store has an
 * event but its answer was lost, a node may write the event again.
 */
const refused = (
  name: string,
  written: ReadonlyArray<Written>,
  received: ReadonlyArray<Received>
): Array<Violation> => {
  const answers = groupBy(written, ({ event }) => `${event!.position}`)
  const isRefused = ({ position }: Received) =>
    answers.get(`${position}`)?.every(({ answer }) => answer === "refused") === true
  return received.filter(isRefused).map(({ at, client, position }) => ({
    promise: PROMISE,
    at,
    message: `${client} has received the id of event ${position} of stream ${name}, which the store has refused`
  }))
}

/** Finds positions with two different events. A position must belong to one event, whichever node writes the event. */
const reused = (name: string, written: ReadonlyArray<Written>): Array<Violation> =>
  [...groupBy(written, ({ event }) => `${event!.position}`)].flatMap(([position, [first, ...others]]) =>
    others.filter(({ event }) => event!.data !== first!.event!.data).map(({ at, node }) => ({
      promise: PROMISE,
      at,
      message: `event ${position} of stream ${name}, written by ${
        first!.node
      }, was written by ${node} with another content`
    }))
  )

/** Finds messages that came twice: two answers to a request, or the same text of a handler. (Each text names its call and its step.) */
const repeated = (received: ReadonlyArray<Received>): Array<Violation> => {
  const messages = groupBy(
    received.filter(({ answers, madeFor }) => answers !== undefined || madeFor !== undefined),
    ({ answers, data, session }) => `${session} ${answers ?? data}`
  )
  const placeOf = ({ position, stream }: Received) => `event ${position} of stream ${stream}`
  return [...messages.values()].flatMap(([first, ...others]) =>
    others.filter((other) => placeOf(other) !== placeOf(first!)).map((other) => ({
      promise: PROMISE,
      at: other.at,
      message: `${other.client} has received in ${placeOf(other)} what was in ${placeOf(first!)}: ` +
        other.data.slice(0, 200)
    }))
  )
}

/**
 * Finds the stored events of a standalone stream from which the client has received nothing. `lost` checks only streams from which the
 * client has received events.
 */
const unread = (name: string, written: ReadonlyArray<Written>): Array<Violation> => {
  const stored = written.filter(({ answer }) => answer === "stored")
  return stored.length === 0 ? [] : [{
    promise: PROMISE,
    at: stored[0]!.at,
    message: `no event of stream ${name} has reached its client, and ${stored.length} were stored`
  }]
}

export const check = (history: History): Array<Violation> => {
  const unheard = new Set(only(history, "Unread").map(({ session }) => session))
  const events = only(history, "Written").filter(({ event }) => event !== undefined)
  const written = groupBy(events, ({ event, session }) => nameOf({ session, stream: event!.stream }))
  const refusals = new Map(only(history, "Unresumable").map((refusal) => [nameOf(refusal), refusal.at]))
  // After a refusal a client continues without a position. So the later events are not compared with the earlier events.
  const before = only(history, "Received").filter((event) => event.at < (refusals.get(nameOf(event)) ?? Infinity))
  const received = groupBy(before, nameOf)
  const unsure = groupBy(
    [
      ...only(history, "Unanswered").map((one) => ({ name: nameOf(one), since: -Infinity })),
      ...events.filter(({ answer }) => answer === "unknown").map(({ begin, event, session }) => ({
        name: nameOf({ session, stream: event!.stream }),
        since: begin
      }))
    ],
    ({ name }) => name
  )
  const followed = new Set(only(history, "Followed").map(nameOf))
  return [
    ...[...received].flatMap(([name, own]) => disordered(name, own)),
    ...[...received].flatMap(([name, own]) => refused(name, written.get(name) ?? [], own)),
    ...[...written].flatMap(([name, own]) => reused(name, own)),
    ...[...followed].flatMap((name) => lost(name, written.get(name) ?? [], received.get(name) ?? [])),
    ...repeated(before),
    ...[...written].flatMap(([name, own]) =>
      own[0]!.event!.stream !== STANDALONE || followed.has(name) || refusals.has(name) || unheard.has(own[0]!.session)
        ? []
        : unread(name, own)
    ),
    ...only(history, "Unresumable").flatMap((refusal): Array<Violation> =>
      unsure.get(nameOf(refusal))?.some(({ since }) => since < refusal.at) === true ? [] : [{
        promise: PROMISE,
        at: refusal.at,
        message: `${refusal.client} could not resume stream ${nameOf(refusal)} after ${refusal.position}: it got ` +
          `${refusal.status}, and every event was stored`
      }]
    )
  ]
}
