/**
 * What sending a notification does when nothing reads it any more: nothing, but senders that go on for ever must not keep
 * the process busy. Fibers that never wait run before timers, signals and sockets get their turn.
 *
 * Two mutable fields for the whole process, because its event loop is what all senders share: `left` counts the drops that
 * are free in this turn of the event loop, and `waiting` holds the senders that wait for the next turn.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** How many notifications all senders together drop in one turn of the event loop. */
const DROPS = 64

let left = DROPS
const waiting = new Set<() => void>()

const begin = Effect.sync(() => {
  left = DROPS
  const woken = [...waiting]
  waiting.clear()
  for (const wake of woken) wake()
})

// By the real clock: it lets the event loop turn, and is no time that a test controls.
const nextTurn = Effect.zipRight(Clock.make().sleep(Duration.zero), begin)

const turn = Effect.async<void>((resume) => {
  const wake = () => resume(Effect.void)
  if (waiting.size === 0) Effect.runFork(nextTurn)
  waiting.add(wake)
  return Effect.sync(() => waiting.delete(wake))
})

/** Drops one notification, in the next turn of the event loop when many were dropped in this one. */
export const drop: Effect.Effect<void> = Effect.suspend(() => --left >= 0 ? Effect.void : turn)
