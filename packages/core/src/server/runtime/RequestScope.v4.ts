/**
 * The scope of a request, for Effect 4. The scope closes with the request, or stays open after the request (`keep`). In Effect 4, a scope
 * costs no more than an object.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

const prototype = Scope.makeUnsafe() as unknown as { readonly [key: string]: unknown }

class Base {
  readonly strategy = "sequential" as const
  readonly parent = undefined
  state: Scope.Scope["state"] = prototype.state as Scope.Scope["state"]
}
// The type ids of a scope.
for (const key of Object.keys(prototype)) {
  if (key.startsWith("~")) Object.assign(Base.prototype, { [key]: prototype[key] })
}

export class RequestScope extends (Base as unknown as new() => Scope.Closeable) {
  private kept = false

  /**
   * Closes the scope. Gives the effect that runs the finalizers; `undefined` when the scope has no finalizers, or when `keep` was called.
   */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    return this.kept ? undefined : Scope.closeUnsafe(this, exit)
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
}
