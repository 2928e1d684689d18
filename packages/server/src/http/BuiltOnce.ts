/**
 * A value that the first use builds, for a handler that is exported from a module: some platforms allow no work before the
 * first request. When building fails, the next use builds again.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as SingleFlight from "@effect-mcp/jsonrpc/unstable/kit/SingleFlight"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

export interface BuiltOnce<A> {
  /** The value, also after `dispose`; a promise of it while it is built; `undefined` after a `dispose` that came before. */
  readonly current: () => A | Promise<A> | undefined
  /** Releases what was built. */
  readonly dispose: () => Promise<void>
}

export const make = <A, E>(build: Effect.Effect<A, E, Scope.Scope>): BuiltOnce<A> => {
  const scope = Effect.runSync(Scope.make())
  let ready: A | undefined
  const flight = SingleFlight.make<A, E>()
  let disposing: Promise<void> | undefined
  const run = Effect.flatMap(Edition.childOf(scope), (own) => {
    const built = Effect.map(Scope.extend(build, own), (built) => ready = built)
    return Effect.onError(built, (cause) => Scope.close(own, Exit.failCause(cause)))
  })
  return {
    current: () => ready ?? (disposing === undefined ? Effect.runPromise(flight.join(run)) : undefined),
    dispose: () => disposing ??= Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
