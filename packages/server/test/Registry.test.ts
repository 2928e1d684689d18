import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/definition/Tool"
import { Cause, Context, Effect, Exit, Scope } from "effect"
import * as Registry from "../src/Registry.js"

const tool = (name: string): Registry.RegisteredTool => ({
  advertised: Tool.make(name).advertised,
  context: Context.empty(),
  call: () => Effect.succeed({ content: [] })
})

describe("Registry", () => {
  it.effect("keeps an entry as long as the scope it was registered in", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const scope = yield* Scope.make()
      const greet = tool("greet")
      yield* Scope.extend(registry.registerTool(greet), scope)
      assert.strictEqual(registry.tools.get("greet"), greet)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(registry.tools.size, 0)
    }))

  it.scoped("dies when a name is taken, names it, and keeps the first", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const first = tool("greet")
      yield* registry.registerTool(first)
      const exit = yield* Effect.exit(Effect.scoped(registry.registerTool(tool("greet"))))
      assert.isTrue(
        Exit.isFailure(exit) && Cause.isDie(exit.cause) &&
          Cause.pretty(exit.cause).includes(`Two features of this server are tools named "greet"`)
      )
      // Closing the scope of the one that was refused takes nothing away.
      assert.strictEqual(registry.tools.get("greet"), first)
    }))

  it.effect("takes a name again when it is free", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* Effect.scoped(registry.registerTool(tool("greet")))
      yield* Effect.scoped(registry.registerTool(tool("greet")))
      assert.strictEqual(registry.tools.size, 0)
    }))

  it.effect("has another revision after every change, and only then", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const revisions = new Set([registry.revision()])
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.registerTool(tool("a"))
        revisions.add(registry.revision())
        yield* Effect.exit(Effect.scoped(registry.registerTool(tool("a"))))
        revisions.add(registry.revision())
        yield* registry.registerTool(tool("b"))
        revisions.add(registry.revision())
      }))
      revisions.add(registry.revision())
      assert.strictEqual(revisions.size, 4)
    }))

  it.effect("offers what it ever had", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      assert.isFalse(registry.offers("tools"))
      yield* Effect.scoped(registry.registerTool(tool("a")))
      assert.isTrue(registry.offers("tools"))
    }))

  it.effect("calls back on every change, until the listener's scope closes", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const heard: Array<string> = []
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.onChange((kind) => heard.push(`${kind}: ${[...registry.tools.keys()].join()}`))
        yield* Effect.scoped(registry.registerTool(tool("a")))
      }))
      yield* Effect.scoped(registry.registerTool(tool("b")))
      assert.deepStrictEqual(heard, ["tools: a", "tools: "])
    }))

  it.effect("is one of each server", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Effect.all([Registry.make, Registry.make])
      yield* Effect.scoped(Effect.zipRight(one.registerTool(tool("a")), two.registerTool(tool("a"))))
      assert.isTrue(one.offers("tools") && two.offers("tools"))
    }))
})
