/**
 * Features that are added as one change: all of them or none. `Registry.add` gives them the registry of the server that runs;
 * `Batch` announces the change once.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { FeatureError } from "../FeatureError.js"
import * as Batch from "./Batch.js"

/**
 * Builds the features, and removes them when the scope closes. When one of them fails, those before it are removed at once; a
 * `FeatureError` with which a layer dies is a failure.
 */
export const run = <E, R>(
  features: Layer.Layer<never, E, R>
): Effect.Effect<void, E | FeatureError, R | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const outer = yield* Effect.scope
      const own = yield* Scope.make()
      const close = (exit: Exit.Exit<unknown, unknown>) => Batch.run(Scope.close(own, exit))
      const memoMap = yield* Layer.makeMemoMap
      yield* restore(Batch.run(
        Layer.buildWithMemoMap(features, memoMap, own).pipe(
          Effect.catchSomeDefect((defect) =>
            defect instanceof FeatureError ? Option.some(Effect.fail(defect)) : Option.none()
          ),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
        )
        // An interruption may come in the steps after the layer was built.
      )).pipe(Effect.onError((cause) => close(Exit.failCause(cause))))
      yield* Scope.addFinalizerExit(outer, close)
    })
  )
