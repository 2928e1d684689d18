/**
 * The scope of one request, made when something is first put into it: most handlers put nothing. It closes when the
 * handler has ended, before the answer leaves.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import { pipeArguments } from "effect/Pipeable"
import * as Scope from "effect/Scope"

/**
 * @since 0.1.0
 * @category models
 */
export class RequestScope implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  private inner: Scope.CloseableScope | undefined

  get strategy(): ExecutionStrategy.ExecutionStrategy {
    return ExecutionStrategy.sequential
  }

  /** What `Scope.fork` calls. */
  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Effect.flatMap(this.open, (inner) => Scope.fork(inner, strategy))
  }

  /** What `Scope.addFinalizer` calls. */
  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.flatMap(this.open, (inner) => Scope.addFinalizerExit(inner, finalizer))
  }

  /** What is to be released, if anything was put in. */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    return this.inner === undefined ? undefined : Scope.close(this.inner, exit)
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  private get open(): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() =>
      this.inner === undefined
        ? Effect.tap(Scope.make(), (made) => {
          this.inner = made
        })
        : Effect.succeed(this.inner)
    )
  }
}
