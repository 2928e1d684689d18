import { assert, describe, it } from "@effect/vitest"
import * as Registry from "@effect-mcp/core/Registry"
import * as Tool from "@effect-mcp/core/Tool"
import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import { Cause, Context, Effect, Either, Exit } from "effect"

const resource = (uri: string): Registry.RegisteredResource => ({
  advertised: { uri, name: uri },
  context: Context.empty(),
  read: Effect.succeed({ contents: [] })
})

const template = (uriTemplate: string): Registry.RegisteredTemplate => ({
  advertised: { uriTemplate, name: uriTemplate },
  template: Either.getOrThrow(UriTemplate.parse(uriTemplate)),
  context: Context.empty(),
  read: () => Effect.succeed(undefined),
  list: undefined,
  completers: new Map()
})

const prompt = (name: string): Registry.RegisteredPrompt => ({
  advertised: { name },
  context: Context.empty(),
  get: () => Effect.succeed({ messages: [] }),
  completers: new Map()
})

const tool = (name: string): Registry.RegisteredTool => ({
  advertised: Tool.make(name).advertised,
  context: Context.empty(),
  call: () => Effect.succeed({ content: [] })
})

describe("Registry", () => {
  it.scoped("dies when a name is taken, names it, and keeps the first entry", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const first = tool("greet")
      yield* registry.tools.register(first)
      const exit = yield* Effect.exit(Effect.scoped(registry.tools.register(tool("greet"))))
      assert.isTrue(
        Exit.isFailure(exit) && Cause.isDie(exit.cause) &&
          Cause.pretty(exit.cause).includes(`Two features of this server are tools named "greet"`)
      )
      // Closing the scope of the one that was refused takes nothing away.
      assert.strictEqual(registry.tools.get("greet"), first)
    }))

  it.effect("offers every kind that it ever had", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      assert.isFalse(registry.offers("tools"))
      yield* Effect.scoped(registry.tools.register(tool("a")))
      assert.isTrue(registry.offers("tools"))
    }))

  it.effect("calls back on every change, until the listener's scope closes", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const heard: Array<string> = []
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.onChange((kind) => heard.push(`${kind}: ${[...registry.tools.keys()].join()}`))
        yield* Effect.scoped(registry.tools.register(tool("a")))
      }))
      yield* Effect.scoped(registry.tools.register(tool("b")))
      assert.deepStrictEqual(heard, ["tools: a", "tools: "])
    }))

  it.effect("belongs to one server", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Effect.all([Registry.make, Registry.make])
      yield* Effect.scoped(Effect.zipRight(one.tools.register(tool("a")), two.tools.register(tool("a"))))
      assert.isTrue(one.offers("tools") && two.offers("tools"))
    }))

  it.scoped("identifies entries of each kind by their key", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* registry.resources.register(resource("file:///a"))
      yield* registry.templates.register(template("file:///{id}"))
      yield* registry.prompts.register(prompt("a"))
      assert.isTrue(registry.resources.has("file:///a"))
      assert.isTrue(registry.templates.has("file:///{id}"))
      assert.isTrue(registry.prompts.has("a"))
      const twice = [
        [registry.resources.register(resource("file:///a")), `resources at "file:///a"`],
        [registry.templates.register(template("file:///{id}")), `resource templates of "file:///{id}"`],
        [registry.prompts.register(prompt("a")), `prompts named "a"`]
      ] as const
      for (const [again, what] of twice) {
        const cause = yield* Effect.flip(Effect.sandbox(again))
        assert.include(Cause.pretty(cause), `Two features of this server are ${what}`)
      }
    }))

  it.effect("counts resources and their templates as one kind, and has a table for each", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const heard: Array<Registry.Kind> = []
      yield* Effect.scoped(registry.onChange((kind) => heard.push(kind)))
      assert.deepStrictEqual(heard, [])
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registry.onChange((kind) => heard.push(kind))
        yield* registry.templates.register(template("file:///{id}"))
        assert.isTrue(registry.offers("resources"))
        assert.isFalse(registry.offers("prompts"))
        yield* registry.resources.register(resource("file:///a"))
        yield* registry.prompts.register(prompt("a"))
        assert.deepStrictEqual(heard, ["resources", "resources", "prompts"])
        assert.isFalse(registry.offers("tools"))
      }))
    }))

  it.effect("runs all listeners with the URI of an updated resource, until their scope closes", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const heard: Array<string> = []
      const hearing = (who: string) => registry.onUpdate((uri) => Effect.sync(() => heard.push(`${who}: ${uri}`)))
      yield* registry.updated("file:///nobody")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* hearing("one")
        yield* Effect.scoped(Effect.zipRight(hearing("two"), registry.updated("file:///a")))
        yield* registry.updated("file:///b")
      }))
      yield* registry.updated("file:///c")
      assert.deepStrictEqual(heard, ["one: file:///a", "two: file:///a", "one: file:///b"])
    }))
})
