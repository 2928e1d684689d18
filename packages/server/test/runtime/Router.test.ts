import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/definition/Tool"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Registry from "@effect-mcp/server/Registry"
import { Context, Effect } from "effect"
import * as Router from "../../src/runtime/Router.js"

const tool: Registry.RegisteredTool = {
  advertised: Tool.make("greet").advertised,
  context: Context.empty(),
  call: () => Effect.succeed({ content: [] })
}

describe("Router", () => {
  it.scoped("finds what serves a method of a feature that the server has", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = Router.make(registry, { pageSize: 10 })
      yield* registry.tools.register(tool)
      for (const method of ["tools/list", "tools/call"]) {
        assert.strictEqual(router.find(method)?.method.name, method)
      }
    }))

  it.effect("finds nothing for a feature that the server never had", () =>
    Effect.gen(function*() {
      const router = Router.make(yield* Registry.make, { pageSize: 10 })
      assert.isUndefined(router.find("tools/list"))
      assert.isUndefined(router.find("tools/call"))
    }))

  it.effect("goes on serving a feature whose last entry has gone: it was promised", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = Router.make(registry, { pageSize: 10 })
      yield* Effect.scoped(registry.tools.register(tool))
      assert.isDefined(router.find("tools/list"))
    }))

  it.scoped("knows no method by a name of Object's, and none of an era's own", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* registry.tools.register(tool)
      const router = Router.make(registry, { pageSize: 10 })
      for (const method of ["constructor", "__proto__", "", "initialize", "ping", "logging/setLevel"]) {
        assert.isUndefined(router.find(method))
      }
    }))

  it.scoped("finds each method of a feature with the feature, and completion with what can be completed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = Router.make(registry, { pageSize: 10 })
      const resources = ["resources/list", "resources/templates/list", "resources/read"]
      const prompts = ["prompts/list", "prompts/get"]
      const found = () =>
        [...resources, ...prompts, "completion/complete"].filter((method) => router.find(method) !== undefined)
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

  it.scoped("knows what the application serves and hears itself, as long as it does", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const router = Router.make(registry, { pageSize: 10 })
      const handler = (method: Method.Method): Registry.RegisteredHandler => ({
        method,
        context: Context.empty(),
        run: () => Effect.succeed({})
      })
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.handlers.register(handler(Methods.listTools))
        yield* registry.handlers.register(handler(Methods.rootsListChanged))
        const route = router.handler("tools/list")
        assert.strictEqual(route?.method, Methods.listTools)
        assert.strictEqual(router.handler("tools/list"), route)
        assert.strictEqual(router.listener("notifications/roots/list_changed")?.method, Methods.rootsListChanged)
        // The one is no notification, the other no request.
        assert.isUndefined(router.listener("tools/list"))
        assert.isUndefined(router.handler("notifications/roots/list_changed"))
        assert.isUndefined(router.fallback())
      }))
      assert.isUndefined(router.handler("tools/list"))
      assert.isUndefined(router.listener("notifications/roots/list_changed"))
    }))
})
