/**
 * Builds the server of a handler that a module exports (`WebHandler`, `NodeHandler` of the node package). The first request builds the
 * server, because some platforms allow no work before the first request. When building fails, this module logs the cause, and the next
 * request builds the server again.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as SingleFlight from "../../kit/SingleFlight.js"

export interface BuiltOnce<A> {
  /**
   * Gives the value, or a promise of the value while the value is being built. Also gives the value after `dispose`. Gives `undefined` when
   * `dispose` was called before the value was built.
   */
  readonly current: () => A | Promise<A> | undefined
  /** Builds the value now, if the value does not exist yet. Rejects with the reason when the value cannot be built. */
  readonly ready: () => Promise<void>
  /** Releases everything that was built. */
  readonly dispose: () => Promise<void>
}

export const make = <A, E>(build: Effect.Effect<A, E, Scope.Scope>): BuiltOnce<A> => {
  const scope = Effect.runSync(Scope.make())
  let ready: A | undefined
  const flight = SingleFlight.make<A, E>()
  let disposing: Promise<void> | undefined
  const run = Effect.flatMap(EffectInternals.childOf(scope), (own) => {
    const built = Effect.map(Scope.extend(build, own), (built) => ready = built)
    return Effect.onError(built, (cause) =>
      Effect.zipRight(
        Scope.close(own, Exit.failCause(cause)),
        Effect.logError("The server of an MCP endpoint could not be built", cause)
      ))
  })
  const current = () => ready ?? (disposing === undefined ? Effect.runPromise(flight.join(run)) : undefined)
  return {
    current,
    ready: () => Promise.resolve(current()).then(() => {}),
    dispose: () => disposing ??= Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
