/**
 * Reads a stream on its own fiber. The fiber listens before `fork` returns, so that it misses no later value. A fiber that is forked with
 * `Stream.runForEach` begins to listen some steps of the scheduler later, and Effect does not say how many. A server in the same process
 * may answer before that. The features of a client (`client/session/FeatureFibers`), its groups (`client/group/ServerLists`) and the proxy
 * call this module.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as EffectInternals from "./EffectInternals.js"
import * as StreamArrays from "./StreamArrays.js"

/** Runs `f` for each value, one value after another, until the stream ends or the scope closes. Returns the fiber that reads the stream. */
export const fork = <A, R = never>(
  stream: Stream.Stream<A, never, R>,
  f: (value: A) => Effect.Effect<unknown, never, R>
): Effect.Effect<Fiber.RuntimeFiber<void>, never, R | Scope.Scope> =>
  Effect.flatMap(StreamArrays.toPull(stream), (pull) => {
    const reading = Effect.forever(
      Effect.flatMap(pull, (values) => Effect.forEach(values, f, { discard: true }))
    )
    return Effect.acquireRelease(
      Effect.map(
        EffectInternals.currentServices<R>(),
        (services) => EffectInternals.runFork(EffectInternals.interruptible(services), Effect.ignore(reading))
      ),
      Fiber.interrupt
    )
  })
