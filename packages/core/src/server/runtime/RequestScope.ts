/**
 * The scope of a request. `Serve` makes a scope for each request, `Pipeline` provides it to the handler, and `TaskCall` keeps it open for a
 * task. Most handlers add nothing to the scope, so this class makes the real scope (`inner`) only when a handler first needs it. A fiber
 * that still runs after the end of the request gets a closed scope. The class has the members of a `Scope` of Effect 3. Builds for Effect 4
 * use `RequestScope.v4.ts` in place of this file.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import { pipeArguments } from "effect/Pipeable"
import * as Scope from "effect/Scope"

export class RequestScope implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  private made: Scope.CloseableScope | undefined
  private ended: Exit.Exit<unknown, unknown> | undefined
  private kept = false

  get strategy(): ExecutionStrategy.ExecutionStrategy {
    return ExecutionStrategy.sequential
  }

  /** The state of the inner scope. `Effect.forkIn` and `Effect.forkScoped` read this member directly. */
  get state(): unknown {
    return (this.inner as unknown as { readonly state: unknown }).state
  }

  /** Forks the inner scope. `Scope.fork` calls this method. */
  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() => Scope.fork(this.inner, strategy))
  }

  /** Adds a finalizer to the inner scope. `Scope.addFinalizer` calls this method. */
  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.suspend(() => Scope.addFinalizerExit(this.inner, finalizer))
  }

  /**
   * Closes the scope. Gives the effect that runs the finalizers; `undefined` when the scope has no finalizers, or when `keep` was called.
   */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    if (this.kept) return undefined
    this.ended = exit
    return this.made === undefined ? undefined : Scope.close(this.made, exit)
  }

  /** Keeps the scope open after its request. Returns a function that makes the effect which closes the scope. */
  keep(): (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> {
    this.kept = true
    return (exit) =>
      Effect.suspend(() => {
        this.kept = false
        return this.release(exit) ?? Effect.void
      })
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  // A fiber that runs after the end of the request gets a closed scope.
  private get inner(): Scope.CloseableScope {
    if (this.made === undefined) {
      this.made = Effect.runSync(Scope.make())
      if (this.ended !== undefined) Effect.runSync(Scope.close(this.made, this.ended))
    }
    return this.made
  }
}
