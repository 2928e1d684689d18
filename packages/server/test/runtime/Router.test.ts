import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/definition/Tool"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Registry from "@effect-mcp/server/Registry"
import { Context, Effect } from "effect"
import * as FeatureRoutes from "../../src/features/FeatureRoutes.js"
import * as Router from "../../src/runtime/Router.js"

const routerOf = (registry: Registry.RegistryService) =>
  Router.make(registry, FeatureRoutes.make(registry, { pageSize: 10 }))

const tool: Registry.RegisteredTool = {
  advertised: Tool.make("greet").advertised,
  context: Context.empty(),
  call: () => Effect.succeed({ content: [] })
}

describe("Router", () => {
  it.scoped("offers the methods of a feature that the server has", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = routerOf(registry)
      yield* registry.tools.register(tool)
      for (const method of ["tools/list", "tools/call"]) {
        assert.isTrue(router.offers(method))
      }
    }))

  it.effect("does not offer the methods of a feature that the server never had", () =>
    Effect.gen(function*() {
      const router = routerOf(yield* Registry.make)
      assert.isFalse(router.offers("tools/list"))
      assert.isFalse(router.offers("tools/call"))
    }))

  it.effect("still offers the methods of a feature whose last entry was removed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = routerOf(registry)
      yield* Effect.scoped(registry.tools.register(tool))
      assert.isTrue(router.offers("tools/list"))
    }))

  it.scoped("offers no method by the name of a member of Object, and none that only one era has", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* registry.tools.register(tool)
      const router = routerOf(registry)
      for (const method of ["constructor", "__proto__", "", "initialize", "ping", "logging/setLevel"]) {
        assert.isFalse(router.offers(method))
      }
    }))

  it.scoped("offers the methods of each feature, and completion for prompts and resources", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = routerOf(registry)
      const resources = ["resources/list", "resources/templates/list", "resources/read"]
      const prompts = ["prompts/list", "prompts/get"]
      const found = () => [...resources, ...prompts, "completion/complete"].filter((method) => router.offers(method))
      assert.deepStrictEqual(found(), [])
      yield* registry.prompts.register({
        advertised: { name: "a" },
        context: Context.empty(),
        get: () => Effect.succeed({ messages: [] }),
        completers: new Map()
      })
      assert.deepStrictEqual(found(), [...prompts, "completion/complete"])
      yield* registry.resources.register({
        advertised: { uri: "file:///a", name: "a" },
        context: Context.empty(),
        read: Effect.succeed({ contents: [] })
      })
      assert.deepStrictEqual(found(), [...resources, ...prompts, "completion/complete"])
    }))

  it.scoped("finds the handlers of the application while they are registered", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = routerOf(registry)
      const handler = (method: Method.Method): Registry.RegisteredHandler => ({
        method,
        context: Context.empty(),
        run: () => Effect.succeed({})
      })
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.handlers.register(handler(Methods.listTools))
        yield* registry.handlers.register(handler(Methods.rootsListChanged))
        assert.strictEqual(router.handler("tools/list")?.method, Methods.listTools)
        assert.strictEqual(router.listener("notifications/roots/list_changed")?.method, Methods.rootsListChanged)
        // A request handler is not a listener, and the other way round.
        assert.isUndefined(router.listener("tools/list"))
        assert.isUndefined(router.handler("notifications/roots/list_changed"))
        assert.isUndefined(router.fallback())
      }))
      assert.isUndefined(router.handler("tools/list"))
      assert.isUndefined(router.listener("notifications/roots/list_changed"))
    }))
})
