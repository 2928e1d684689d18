import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/definition/Tool"
import { Context, Effect } from "effect"
import * as Registry from "../src/Registry.js"
import * as Router from "../src/Router.js"

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
      yield* registry.registerTool(tool)
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
      yield* Effect.scoped(registry.registerTool(tool))
      assert.isDefined(router.find("tools/list"))
    }))

  it.scoped("knows no method by a name of Object's, and none of an era's own", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* registry.registerTool(tool)
      const router = Router.make(registry, { pageSize: 10 })
      for (const method of ["constructor", "__proto__", "", "initialize", "ping", "logging/setLevel"]) {
        assert.isUndefined(router.find(method))
      }
    }))
})
