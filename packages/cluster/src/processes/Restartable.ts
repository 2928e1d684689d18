/**
 * Makes a process that can be ended and started again within one scope, with the same ports and files. The last process ends with the
 * scope. `Postgres`, `Redis` and the nodes of a run use this module.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as Child from "./Child.js"

export interface Restartable {
  /** The process that was started last. */
  readonly current: Effect.Effect<Child.Child>
  /** Kills the process if it still runs, and starts the next process. */
  readonly restart: Effect.Effect<void, Child.ProcessError>
  readonly kill: Effect.Effect<void>
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  readonly exit: Effect.Effect<Child.Exit>
}

export const make = (
  start: Effect.Effect<Child.Child, Child.ProcessError, Scope.Scope>
): Effect.Effect<Restartable, Child.ProcessError, Scope.Scope> =>
  Effect.gen(function*() {
    const outer = yield* Effect.scope
    const next = Effect.gen(function*() {
      const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
      return { child: yield* Scope.extend(start, scope), scope }
    })
    let run = yield* next
    const current = Effect.sync(() => run.child)
    return {
      current,
      restart: Effect.gen(function*() {
        yield* run.child.kill
        yield* Scope.close(run.scope, Exit.void)
        run = yield* next
      }),
      kill: Effect.flatMap(current, ({ kill }) => kill),
      signal: (name) => Effect.flatMap(current, ({ signal }) => signal(name)),
      exit: Effect.flatMap(current, ({ exit }) => exit)
    }
  })
