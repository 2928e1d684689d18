import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as TaskMethods from "@effect-mcp/core/protocol/legacy/TaskMethods"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { Effect, Layer, Schema } from "effect"
import * as AdvertisedCapabilities from "../../../src/server/features/AdvertisedCapabilities.js"
import { GreetLive } from "../Serving.js"

/** What a server with these features says that it offers. */
const offered = (
  features: Layer.Layer<never, never, Registry.Registry>,
  options: Partial<Parameters<typeof AdvertisedCapabilities.capabilities>[1]> = {}
) =>
  Effect.gen(function*() {
    const registry = yield* Registry.make
    yield* Layer.build(Layer.provide(features, Layer.succeed(Registry.Registry, registry)))
    return AdvertisedCapabilities.capabilities(registry, {
      logging: false,
      subscriptions: true,
      tasks: false,
      also: undefined,
      ...options
    })
  })

const Readme = McpServer.resource(Resource.make("readme", { uri: "file:///README.md" }), Effect.succeed("# Read me"))
const id = ResourceTemplate.param("id")
const Notes = McpServer.resourceTemplate(ResourceTemplate.make("note")`note:///${id}`, () => Effect.succeed("a note"))
const Review = McpServer.prompt(Prompt.make("review"), () => Effect.succeed("Review it."))
const Choose = McpServer.prompt(
  Prompt.make("choose", { arguments: { size: Schema.Literal("s", "l") } }),
  () => Effect.succeed("Choose.")
)

describe("A server offers", () => {
  it.scoped("nothing, when it has nothing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* offered(Layer.empty), {})
    }))

  it.scoped("the capabilities of its features, each with its changes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* offered(GreetLive), { tools: { listChanged: true } })
      assert.deepStrictEqual(yield* offered(Readme), { resources: { listChanged: true, subscribe: true } })
      assert.deepStrictEqual(yield* offered(Notes), { resources: { listChanged: true, subscribe: true } })
      assert.deepStrictEqual(yield* offered(Review), { prompts: { listChanged: true } })
    }))

  it.scoped("completions as soon as an argument can be completed, and only then", () =>
    Effect.gen(function*() {
      assert.notProperty(yield* offered(Layer.merge(Review, Notes)), "completions")
      assert.deepStrictEqual((yield* offered(Choose)).completions, {})
    }))

  it.scoped("logging and subscriptions unless they are switched off", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* offered(Layer.empty, { logging: true }), { logging: {} })
      assert.deepStrictEqual(yield* offered(Readme, { subscriptions: false }), { resources: { listChanged: true } })
      assert.deepStrictEqual(yield* offered(Layer.empty, { subscriptions: true }), {})
    }))

  it.scoped("the capabilities of the methods that the application handles", () =>
    Effect.gen(function*() {
      const serving = Layer.mergeAll(
        MethodHandler.request(Methods.subscribe, () => Effect.succeed({})),
        MethodHandler.request(Methods.listPrompts, () => Effect.succeed({ prompts: [] })),
        MethodHandler.request(Methods.complete, () => Effect.succeed({ completion: { values: [] } })),
        MethodHandler.request(Methods.setLevel, () => Effect.succeed({})),
        MethodHandler.request(Methods.ping, () => Effect.succeed({})),
        MethodHandler.rootsListChanged(Effect.void)
      )
      assert.deepStrictEqual(yield* offered(serving), {
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {}
      })
      assert.deepStrictEqual((yield* offered(Layer.merge(serving, Readme), { subscriptions: false })).resources, {
        listChanged: true,
        subscribe: true
      })
    }))

  it.scoped("the methods of tasks in the form that the specification has", () =>
    Effect.gen(function*() {
      const serving = Layer.mergeAll(
        MethodHandler.request(TaskMethods.listTasks, () => Effect.succeed({ tasks: [] })),
        MethodHandler.request(TaskMethods.cancelTask, () => Effect.never)
      )
      assert.deepStrictEqual(yield* offered(serving), { tasks: { list: {}, cancel: {} } })
    }))

  it.scoped("the capabilities of the options, which come before the others", () =>
    Effect.gen(function*() {
      const also = {
        experimental: { "example.com/x": { a: 1 } },
        tools: { listChanged: false },
        resources: {},
        extensions: { "example.com/ui": {} }
      }
      assert.deepStrictEqual(yield* offered(Layer.merge(GreetLive, Readme), { also }), {
        tools: { listChanged: false },
        resources: { listChanged: true, subscribe: true },
        experimental: { "example.com/x": { a: 1 } },
        extensions: { "example.com/ui": {} }
      })
    }))
})
