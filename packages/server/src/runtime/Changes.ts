/**
 * Announces changes of the registry, several changes at once as one: a change is announced after all fibers that are
 * ready have run, so a feature layer that adds a hundred tools causes one announcement. Each era decides how it announces.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { Kind, RegistryService } from "../Registry.js"

/** Runs `notify` once for each kind that has changed since the last announcement, until the scope closes. */
export const announce = (
  registry: RegistryService,
  notify: (kind: Kind) => Effect.Effect<void>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    const changed = new Set<Kind>()
    let running = false
    const announcing = Effect.whileLoop({
      // One step reads `changed` and clears `running`, so that no change falls between the two.
      while: () => running = changed.size > 0,
      body: () =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.suspend(() => {
            const kinds = [...changed]
            changed.clear()
            return Effect.forEach(kinds, notify, { discard: true })
          })
        ),
      step: () => undefined
    })
    yield* registry.onChange((kind) => {
      changed.add(kind)
      if (running) return
      running = true
      run(Effect.interruptible(announcing))
    })
  })
