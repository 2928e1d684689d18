/**
 * Runs an effect once for all callers that wait for it, such as a session layer (`server/runtime/SessionLayer`) or new tokens. The effect
 * runs in a fiber of its own: a caller that is interrupted stops waiting, and the last such caller interrupts the run. `coalesced` stores
 * a state that many callers change. Effect's `cached` keeps the exit, and the interruption of its first caller reaches all others. When
 * test/kit/SingleFlight passes on a part of Effect, this module can be deleted.
 *
 * `current` is the run that callers join: the run has not ended, was not replaced, and `waiting`, the number of its callers, is not 0.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "./EffectInternals.js"
import * as Semaphore from "./Semaphore.js"

export interface SingleFlight<A, E> {
  /** Waits for the run that is under way; begins a run when there is none. */
  readonly join: (begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Interrupts the run that is under way, fails its callers with the error, and begins another run. */
  readonly replace: (error: E, begin: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly isRunning: () => boolean
}

interface Run<A, E> {
  readonly exit: Deferred.Deferred<A, E>
  waiting: number
  /** The fiber of the run, from the step after its start. */
  fiber?: Fiber.RuntimeFiber<A, E>
  /** The error of its callers, once another run has replaced this one. */
  replaced?: E
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Closing the scope interrupts the run. Its callers, and later callers, fail with `closed`; without `closed` they are interrupted with
 * the run. Without a scope, the last caller that is interrupted waits until the run has ended.
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

  /** Begins a run. Its fiber cannot be interrupted where the effect does not say so. */
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
 * An effect that stores a state, for callers that change the state at the same time. Each run stores the state of its
 * moment, and begins when the run before it has ended or was interrupted, so that no older state replaces a newer state. A
 * store that may still write after an interruption keeps the order of the runs itself. Callers that wait share one run.
 */
export const coalesced = <A, E>(store: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let turns: Semaphore.Semaphore | undefined
  let calls = 0
  /** The last run that has ended. It has stored the changes of all calls up to the call `upTo`. */
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
