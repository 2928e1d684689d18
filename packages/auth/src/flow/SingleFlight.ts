/**
 * Runs an effect once for all that wait for it. It runs in a fiber of its own: a caller that is interrupted stops waiting, and
 * the last one to stop interrupts it.
 *
 * `waiting` counts the callers that wait for `current`; when it is 0, nothing refers to its fiber.
 */
import { raceFirst } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"

export interface SingleFlight<A, E> {
  /** Waits for the run that is under way; begins one when there is none. */
  readonly join: (begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Interrupts the run that is under way, whose callers fail with the error, and runs another in its place. */
  readonly replace: (error: E, begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly isRunning: () => boolean
}

interface Run<A, E> {
  readonly fiber: Fiber.RuntimeFiber<A, E>
  /** Ends the run with a failure. */
  readonly stopped: Deferred.Deferred<never, E>
}

/**
 * Closing the scope interrupts the run, and its callers fail with `closed`, as do those that come later. Without `closed` they
 * are interrupted with it.
 */
export const make = <A, E>(scope: Scope.Scope, closed?: E): SingleFlight<A, E> => {
  let current: Run<A, E> | undefined
  let waiting = 0

  const resultOf = ({ fiber }: Run<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(
      Fiber.await(fiber),
      (exit) => closed !== undefined && Exit.isInterrupted(exit) ? Effect.fail(closed) : exit
    )

  const wait = (run: Run<A, E>, restore: (effect: Effect.Effect<A, E>) => Effect.Effect<A, E>) =>
    Effect.onExit(restore(resultOf(run)), (exit) =>
      Effect.suspend(() => {
        if (current !== run) return Effect.void
        waiting--
        if (!Exit.isInterrupted(exit) || waiting > 0) return Effect.void
        current = undefined
        return Fiber.interruptFork(run.fiber)
      }))

  const start = (begin: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const stopped = Deferred.unsafeMake<never, E>(FiberId.none)
      const running = Effect.interruptible(raceFirst(begin, Deferred.await(stopped)))
      return Effect.map(Effect.forkIn(running, scope), (fiber) => {
        const run = { fiber, stopped }
        current = run
        waiting = 1
        fiber.addObserver(() => {
          if (current === run) current = undefined
        })
        return run
      })
    })

  return {
    join: (begin) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          if (current === undefined) return Effect.flatMap(start(begin), (run) => wait(run, restore))
          waiting++
          return wait(current, restore)
        })
      ),
    replace: (error, begin) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const before = current
          const ended = before === undefined
            ? Effect.void
            : Effect.zipRight(Deferred.fail(before.stopped, error), Fiber.await(before.fiber))
          return Effect.flatMap(start(Effect.zipRight(ended, begin)), (run) => wait(run, restore))
        })
      ),
    isRunning: () => current !== undefined
  }
}
