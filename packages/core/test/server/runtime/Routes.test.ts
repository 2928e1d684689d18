import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/core/protocol/Method"
import * as Registry from "@effect-mcp/core/Registry"
import { Context, Effect } from "effect"
import * as ExtensionTable from "../../../src/protocol/extension/ExtensionTable.js"
import * as Build from "../../../src/server/dispatch/Build.js"
import * as Routes from "../../../src/server/runtime/Routes.js"

describe("Routes", () => {
  it.scoped("are those of every feature, whether the server has an entry of it or not, and none that only one era has", () =>
    Effect.gen(function*() {
      const routes = Build.routes(yield* Registry.make, { pageSize: 10, tasks: undefined, report: () => Effect.void })
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

  it.scoped("find the handlers of the application while they are registered", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const server = { registry, extensions: ExtensionTable.make([], "server") }
      const handler = (method: Method.Method): Registry.RegisteredHandler => ({
        method,
        context: Context.empty(),
        run: () => Effect.succeed({})
      })
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.handlers.register(handler(Methods.listTools))
        yield* registry.handlers.register(handler(Methods.rootsListChanged))
        assert.strictEqual(Routes.handlerOf(server, "tools/list")?.method, Methods.listTools)
        assert.strictEqual(
          Routes.listenerOf(server, "notifications/roots/list_changed")?.method,
          Methods.rootsListChanged
        )
        // A request handler is not a listener, and the other way round.
        assert.isUndefined(Routes.listenerOf(server, "tools/list"))
        assert.isUndefined(Routes.handlerOf(server, "notifications/roots/list_changed"))
        assert.isUndefined(Routes.handlerOf(server, "*"))
      }))
      assert.isUndefined(Routes.handlerOf(server, "tools/list"))
      assert.isUndefined(Routes.listenerOf(server, "notifications/roots/list_changed"))
    }))
})
