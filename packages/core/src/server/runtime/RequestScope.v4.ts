/**
 * The scope of a request, which closes with the request or is kept open after it, under Effect 4. There a scope costs no more than an
 * object.
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

  /** Closes the scope. Gives the effect that runs its finalizers; `undefined` when there are none, or when `keep` keeps the scope open. */
  release(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    return this.kept ? undefined : Scope.closeUnsafe(this, exit)
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
}
