import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Registry from "@effect-mcp/server/Registry"
import { Context, Effect } from "effect"
import * as FeatureRoutes from "../../src/features/FeatureRoutes.js"
import * as Router from "../../src/runtime/Router.js"

const routerOf = (registry: Registry.RegistryService) =>
  Router.make(registry, FeatureRoutes.make(registry, { pageSize: 10, tasks: undefined }), ExtensionTable.none)

describe("Router", () => {
  it.scoped("has the routes of every feature, whether the server has an entry of it or not, and none that only one era has", () =>
    Effect.gen(function*() {
      const { routes } = routerOf(yield* Registry.make)
      assert.deepStrictEqual(routes.map(({ method }) => method).sort(), [
        "completion/complete",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/call",
        "tools/list"
      ])
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
