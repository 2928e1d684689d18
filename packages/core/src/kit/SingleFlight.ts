/**
 * Runs an effect once for all callers that wait for it, such as a session layer (`server/runtime/SessionLayer`) or a request for new
 * tokens. The effect runs on its own fiber. A caller that is interrupted stops waiting; when no caller is left, the effect is interrupted,
 * too. `coalesced` stores a state that many callers change. Effect's `cached` keeps the exit for ever, and an interruption of its first
 * caller reaches all other callers. When test/kit/SingleFlight passes with functions of Effect, this module can be deleted.
 *
 * `current` is the run that new callers join. It is set while a run has not ended, no other run has replaced it, and `waiting`, the number
 * of its callers, is more than 0.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "./EffectInternals.js"
import * as Semaphore from "./Semaphore.js"

export interface SingleFlight<A, E> {
  /** Waits for the current run. When there is none, begins a run with `begin`. */
  readonly join: (begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /**
   * Interrupts the current run, fails its callers with `error`, and begins another run after the first has ended. The caller waits for the
   * new run.
   */
  readonly replace: (error: E, begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly isRunning: () => boolean
}

interface Run<A, E> {
  readonly exit: Deferred.Deferred<A, E>
  waiting: number
  /** The fiber of the run. It is set in the step after the fiber was started. */
  fiber?: Fiber.RuntimeFiber<A, E>
  /** The error with which the callers of this run fail; set when another run has replaced this run. */
  replaced?: E
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes a `SingleFlight`. When `scope` closes, the run is interrupted. Its callers and all later callers then fail with `closed`; without
 * `closed` they are interrupted. With a scope, a caller that is interrupted never waits for the end of the run. Without a scope, the last
 * caller that is interrupted waits until the run has ended.
 */
export const make = <A, E>(scope?: Scope.Scope, closed?: E): SingleFlight<A, E> => {
  let current: Run<A, E> | undefined

  const wait = (run: Run<A, E>, restore: Restore): Effect.Effect<A, E> => {
    run.waiting++
    const leave = Effect.suspend(() => {
      if (--run.waiting > 0 || current !== run) return Effect.void
      current = undefined
      return Effect.asVoid(scope === undefined ? Fiber.interrupt(run.fiber!) : Fiber.interruptFork(run.fiber!))
    })
    return Effect.ensuring(restore(Deferred.await(run.exit)), leave)
  }

  /** Begins a run. Its fiber is uninterruptible, except in parts that the effect makes interruptible. */
  const begun = (effect: Effect.Effect<A, E>, restore: Restore): Effect.Effect<A, E> => {
    const run: Run<A, E> = current = { exit: EffectInternals.deferred(), waiting: 0 }
    const waiting = wait(run, restore)
    return Effect.flatMap(scope === undefined ? Effect.forkDaemon(effect) : Effect.forkIn(effect, scope), (fiber) => {
      run.fiber = fiber
      fiber.addObserver((exit) => {
        if (current === run) current = undefined
        const error = run.replaced ?? (Exit.isInterrupted(exit) ? closed : undefined)
        EffectInternals.done(run.exit, error === undefined ? exit : Effect.fail(error))
      })
      if (run.replaced !== undefined) EffectInternals.interrupt(fiber)
      return waiting
    })
  }

  return {
    join: (begin) =>
      Effect.uninterruptibleMask((restore) =>
        current === undefined ? begun(Effect.interruptible(begin), restore) : wait(current, restore)
      ),
    replace: (error, begin) =>
      Effect.uninterruptibleMask((restore) => {
        const old = current
        if (old === undefined) return begun(Effect.interruptible(begin), restore)
        old.replaced = error
        const own = Effect.interruptible(Effect.zipRight(Effect.exit(Deferred.await(old.exit)), begin))
        return begun(
          Effect.zipRight(
            Effect.sync(() => {
              if (old.fiber !== undefined) EffectInternals.interrupt(old.fiber)
            }),
            own
          ),
          restore
        )
      }),
    isRunning: () => current !== undefined
  }
}

/**
 * Returns an effect that stores a state. Callers may change the state and run the effect at the same time. Each run of `store` writes the
 * state as it is when the run begins. A run begins after the previous run has ended or was interrupted, so no older state replaces a newer
 * state. If `store` may still write after an interruption, `store` itself must keep the order of its writes. Callers that wait share one
 * run.
 */
export const coalesced = <A, E>(store: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let turns: Semaphore.Semaphore | undefined
  let calls = 0
  /** The last run that has ended without interruption. It has stored the changes of all calls up to the call with number `upTo`. */
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
