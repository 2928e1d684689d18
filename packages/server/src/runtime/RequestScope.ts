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
  private made: Scope.CloseableScope | undefined
  private ended: Exit.Exit<unknown, unknown> | undefined

  get strategy(): ExecutionStrategy.ExecutionStrategy {
    return ExecutionStrategy.sequential
  }

  /** What `Effect.forkIn` and `Effect.forkScoped` look at, without asking: the state of the scope inside. */
  get state(): unknown {
    return (this.inner as unknown as { readonly state: unknown }).state
  }

  /** What `Scope.fork` calls. */
  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() => Scope.fork(this.inner, strategy))
  }

  /** What `Scope.addFinalizer` calls. */
  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.suspend(() => Scope.addFinalizerExit(this.inner, finalizer))
  }

  /** Ends the scope; gives what is to be released, if anything was put in. */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    this.ended = exit
    return this.made === undefined ? undefined : Scope.close(this.made, exit)
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  // What outlived its request finds the scope closed, as any other.
  private get inner(): Scope.CloseableScope {
    if (this.made === undefined) {
      this.made = Effect.runSync(Scope.make())
      if (this.ended !== undefined) Effect.runSync(Scope.close(this.made, this.ended))
    }
    return this.made
  }
}
