/**
 * The scope of a request. `Serve` makes a scope for each request, `Pipeline` provides it to the handler, and `TaskCall` keeps it open for a
 * task. Most handlers add nothing to the scope, so the scope inside is made when something is first added. Once the scope is closed, fibers
 * that outlive the request find it closed. The class has the form of a `Scope` of Effect 3. Under Effect 4, `RequestScope.v4.ts` is used in
 * place of this file.
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

  /** The state of the scope inside, which `Effect.forkIn` and `Effect.forkScoped` read directly. */
  get state(): unknown {
    return (this.inner as unknown as { readonly state: unknown }).state
  }

  /** `Scope.fork` calls it. */
  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() => Scope.fork(this.inner, strategy))
  }

  /** `Scope.addFinalizer` calls it. */
  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.suspend(() => Scope.addFinalizerExit(this.inner, finalizer))
  }

  /**
   * Closes the scope. Gives the effect that runs its finalizers; `undefined` when nothing was added to the scope, or when `keep` keeps it
   * open.
   */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    if (this.kept) return undefined
    this.ended = exit
    return this.made === undefined ? undefined : Scope.close(this.made, exit)
  }

  /** Keeps the scope open after its request. Gives a function; the effect that this function gives closes the scope. */
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

  // A fiber that outlives its request finds the scope closed.
  private get inner(): Scope.CloseableScope {
    if (this.made === undefined) {
      this.made = Effect.runSync(Scope.make())
      if (this.ended !== undefined) Effect.runSync(Scope.close(this.made, this.ended))
    }
    return this.made
  }
}
