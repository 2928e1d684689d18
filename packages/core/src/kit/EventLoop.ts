/**
 * Lets the event loop of the process continue, so that timers, signals and sockets are served although some fiber always has work.
 * `Conversation`, `Requests` and `Outbox` call this module for notifications that they drop or buffer. `client/http/Events` calls it for
 * events that arrive faster than they are read. `group/Entries` and package `sql` call it during long work.
 *
 * Effect's scheduler does not do this: after `Effect.yieldNow`, sockets are served only when the scheduler has run its limit of microtasks.
 * When test/kit/EventLoop passes with a function of Effect, this module can be deleted. Two mutable fields serve the whole process, because
 * all fibers share its event loop: `left` is the cost that the fibers may still spend in this turn, and `waiting` holds the fibers that
 * wait for the next turn. `waiting` is set exactly while a call of `begin` is due.
 */
import * as Effect from "effect/Effect"

/** How many notifications all senders together may send in one turn of the event loop. Each of them costs 1. */
const SENDS = 128

/** The cost of a notification that nobody reads, so that at most 32 such notifications are dropped in one turn. */
const DROP = 4

/** The cost of a received event, so that at most 1,024 events are read in one turn in which nothing is sent. */
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

/**
 * Calls `run` in the next turn of the event loop. Node runs timers that are due again at once before it serves sockets, and an immediate
 * after it has served sockets. Without `setImmediate`, a timer of 0 ms is used.
 */
export const onNextTurn: (run: () => void) => unknown = setImmediate ?? ((run) => setTimeout(run, 0))

/** Waits for the next turn of the event loop. Before that turn, the process reads what has arrived at its sockets. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  const wake = () => resume(Effect.void)
  if (waiting === undefined) onNextTurn(begin)
  const own = (waiting ??= new Set()).add(wake)
  return Effect.sync(() => own.delete(wake))
})

const spend = (cost: number): Effect.Effect<void> => (left -= cost) >= 0 ? Effect.void : turn

/** Drops one notification. When many were dropped or sent in this turn of the event loop, waits for the next turn. */
export const drop: Effect.Effect<void> = Effect.suspend(() => spend(DROP))

/**
 * Callers run this effect after they have received an event. When many events were received in this turn of the event loop, the effect
 * waits for the next turn.
 */
export const received: Effect.Effect<void> = Effect.suspend(() => spend(EVENT))

/**
 * Callers run this effect after each step of long work that a peer caused. After 128 steps in one turn of the event loop, the effect waits
 * for the next turn.
 */
export const worked: Effect.Effect<void> = Effect.suspend(() => spend(1))

/**
 * Callers run this effect after they have sent a notification; `isRead` says whether somebody reads the notification now. When many
 * notifications were sent in this turn of the event loop, the effect waits for the next turn.
 */
export const sent = (isRead: boolean): Effect.Effect<void> => spend(isRead ? 1 : DROP)
