import { assert, describe, it } from "@effect/vitest"
import { FeatureError } from "@effect-mcp/core/FeatureError"
import { Cause, Effect, Exit, Layer } from "effect"
import { act, serve } from "./Serving.js"

describe("FeatureError", () => {
  it.effect("is the defect of a server with two features of one name, and says what to do", () =>
    Effect.gen(function*() {
      const twice = serve(Layer.merge(act(Effect.void), Layer.fresh(act(Effect.void))))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(twice)))
      const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(defect, FeatureError)
      assert.strictEqual(defect.reason, "Taken")
      assert.strictEqual(
        defect.message,
        `Two features of this server are tools named "act": rename one, or remove one before you add the other`
      )
    }))
})
