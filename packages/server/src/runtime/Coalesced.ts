/**
 * An effect that stores a state, for callers that change the state at the same time. Each run stores the state as it is then, and begins
 * when the one before has ended or was interrupted, so that no older state replaces a newer one. A store that may still write what was
 * interrupted keeps the order of the runs itself. Callers that wait share one run.
 */
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

export const make = <A, E>(store: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let turns: Semaphore.Semaphore | undefined
  let calls = 0
  /** The last run that has ended, and the calls whose changes it has stored: all up to this one. */
  let last: { readonly upTo: number; readonly exit: Exit.Exit<A, E> } | undefined
  const run = Effect.suspend(() => {
    const upTo = calls
    return Effect.flatMap(Effect.exit(store), (exit) => {
      if (!Exit.isInterrupted(exit)) last = { upTo, exit }
      return exit
    })
  })
  return Effect.suspend(() => {
    const call = ++calls
    turns ??= Semaphore.make()
    return turns.run(Effect.suspend(() => last !== undefined && call <= last.upTo ? last.exit : run))
  })
}
