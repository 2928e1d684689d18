/**
 * Lets the event loop turn: what has arrived at sockets comes first.
 * Timers do not: after a statement of SQLite the next timer may be due, and run in the same turn.
 */
import * as Effect from "effect/Effect"

export const turn: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
