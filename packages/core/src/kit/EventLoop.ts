/**
 * Lets the event loop of the process turn, so that timers, signals and sockets are served while fibers never wait: `Conversation`,
 * `Requests` and `Outbox`, whose notifications are dropped or buffered, `client/http/Events`, whose events come faster than they are read,
 * and `group/Entries` and package `sql`, whose work is long.
 *
 * Effect's scheduler has no such turn: after `Effect.yieldNow`, sockets are served only when the scheduler has run its limit of
 * microtasks. When test/kit/EventLoop passes on a turn of Effect's own, this module can be deleted. Two mutable fields serve the whole
 * process, because all fibers share its event loop: `left` is what they may still spend in this turn, and `waiting` holds the fibers that
 * wait for the next turn, for as long as `begin` is due.
 */
import * as Effect from "effect/Effect"

/** How many notifications all senders together send in one turn of the event loop. */
const SENDS = 128

/** The cost of a notification that nothing reads: 32 of them are dropped in one turn. */
const DROP = 4

/** The cost of a received event: when nothing is sent, 1,024 events are read in one turn. */
const EVENT = 0.125

let left = SENDS
let waiting: Set<() => void> | undefined

const begin = (): void => {
  left = SENDS
  const woken = [...waiting ?? []]
  waiting = undefined
  for (const wake of woken) wake()
}

interface Host {
  readonly setImmediate?: (run: () => void) => unknown
  readonly setTimeout: (run: () => void, millis: number) => unknown
}

const { setImmediate, setTimeout } = globalThis as unknown as Host

/** Calls back in the next turn of the event loop. In Node, timers that are due again at once run before sockets; an immediate runs after them. */
export const onNextTurn: (run: () => void) => unknown = setImmediate ?? ((run) => setTimeout(run, 0))

/** Waits for the next turn of the event loop: input that has arrived at sockets is read first. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  const wake = () => resume(Effect.void)
  if (waiting === undefined) onNextTurn(begin)
  const own = (waiting ??= new Set()).add(wake)
  return Effect.sync(() => own.delete(wake))
})

const spend = (cost: number): Effect.Effect<void> => (left -= cost) >= 0 ? Effect.void : turn

/** Drops one notification, in the next turn of the event loop when many were dropped or sent in this one. */
export const drop: Effect.Effect<void> = Effect.suspend(() => spend(DROP))

/** To be run after an event was received: waits for the next turn of the event loop when many were received in this one. */
export const received: Effect.Effect<void> = Effect.suspend(() => spend(EVENT))

/** To be run after each of the many steps of work that a peer gives: after 128 it waits for the next turn of the event loop. */
export const worked: Effect.Effect<void> = Effect.suspend(() => spend(1))

/** To be run after a notification was sent: waits for the next turn of the event loop when many were sent in this one. */
export const sent = (isRead: boolean): Effect.Effect<void> => spend(isRead ? 1 : DROP)
