import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as Registry from "@effect-mcp/core/Registry"
import type { RequestContext } from "@effect-mcp/core/RequestContext"
import type { ServerSession } from "@effect-mcp/core/ServerSession"
import { Context, Effect, Layer, Scope } from "effect"
import * as EffectInternals from "../../src/kit/EffectInternals.js"

class Db extends Context.Tag("Db")<Db, string>() {}

describe("A feature", () => {
  it.scoped("gets the registry, and the context that its layer was built with, without the layer's scope", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      let given: Context.Context<never> | undefined
      const feature = Feature.make<Db>((own, context) => {
        assert.strictEqual(own, registry)
        given = context
        return Effect.void
      })
      yield* Layer.build(feature).pipe(
        Effect.provideService(Registry.Registry, registry),
        Effect.provideService(Db, "db")
      )
      assert.strictEqual(Context.unsafeGet(given!, Db as never), "db")
      assert.isFalse(EffectInternals.entries(given!).has(Scope.Scope.key))
    }))

  it.scoped("is registered as long as the scope of its layer is open", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const told: Array<string> = []
      const feature = Feature.make(() =>
        Effect.asVoid(Effect.acquireRelease(
          Effect.sync(() => told.push("here")),
          () => Effect.sync(() => told.push("gone"))
        ))
      )
      yield* Effect.scoped(Layer.build(feature)).pipe(Effect.provideService(Registry.Registry, registry))
      assert.deepStrictEqual(told, ["here", "gone"])
    }))

  it("requires what its handler requires, except the services of a request", () => {
    const feature = Feature.make<Db>(() => Effect.void)
    expectTypeOf(feature).toEqualTypeOf<Layer.Layer<never, never, Registry.Registry | Db>>()
    expectTypeOf<Feature.RequestServices>().toEqualTypeOf<RequestContext | ServerSession | Scope.Scope>()
  })
})
