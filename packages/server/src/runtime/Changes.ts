/**
 * What has changed in a server, told to whoever listens: many changes in one go are one piece of news. How it is told is
 * the business of each era.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { Kind, RegistryService } from "../Registry.js"

/**
 * Runs `tell` for each kind that changed, once everything that is ready to run has run.
 *
 * @since 0.1.0
 * @category running
 */
export const announce = (
  registry: RegistryService,
  tell: (kind: Kind) => Effect.Effect<void>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    const changed = new Set<Kind>()
    let running = false
    const news = Effect.whileLoop({
      // In one step with the question, so that no change falls between the last news and the end.
      while: () => running = changed.size > 0,
      body: () =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.suspend(() => {
            const kinds = [...changed]
            changed.clear()
            return Effect.forEach(kinds, tell, { discard: true })
          })
        ),
      step: () => undefined
    })
    yield* registry.onChange((kind) => {
      changed.add(kind)
      if (running) return
      running = true
      run(Effect.interruptible(news))
    })
  })
