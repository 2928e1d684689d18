import { assert, describe, it } from "@effect/vitest"
import * as Registry from "@effect-mcp/core/Registry"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { act, serve } from "./Serving.js"

describe("Registry.add", () => {
  it.live("leaves nothing behind when it is interrupted between any two of its steps", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.Running
      yield* preempted(Effect.gen(function*() {
        const scope = yield* Scope.make()
        const adding = yield* Effect.forkDaemon(Scope.extend(Registry.add(act(Effect.void, "new")), scope))
        yield* Effect.repeatN(Effect.yieldNow(), 3)
        yield* Fiber.interrupt(adding)
        yield* Scope.close(scope, Exit.void)
        assert.isFalse(registry.tools.has("new"))
      }))
    }).pipe(Effect.scoped, Effect.provide(serve(Layer.empty))))
})
