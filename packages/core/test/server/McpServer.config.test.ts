import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Config, ConfigProvider, Effect, Layer } from "effect"

const info = { name: "configured", version: "1.0.0" }

const Server = McpServer.layerConfig(
  info,
  Layer.empty,
  Config.all({ instructions: Config.string("INSTRUCTIONS") })
)

const from = (values: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))

describe("McpServer.layerConfig", () => {
  it.scoped("makes a server with options from the configuration", () =>
    Effect.gen(function*() {
      const client = yield* Client.make(InProcess.fromLayer(Layer.provide(Server, from({ INSTRUCTIONS: "Be brief" }))))
      assert.strictEqual(client.instructions, "Be brief")
    }))

  it.scoped("fails with the name of what is missing in the configuration", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(Layer.provide(Server, from({}))))
      assert.include(String(error), "INSTRUCTIONS")
    }))
})

describe("FeatureMiddleware.around", () => {
  it.scoped("takes the feature first, or last in a pipe", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const noting = FeatureMiddleware.make(({ entry, next }) =>
        Effect.zipRight(Effect.sync(() => seen.push(entry.name)), next)
      )
      const One = McpServer.tool(Tool.make("one"), () => Effect.void)
      const Two = McpServer.tool(Tool.make("two"), () => Effect.void)
      const live = McpServer.layer(
        info,
        Layer.merge(FeatureMiddleware.around(One, noting), Two.pipe(FeatureMiddleware.around(noting)))
      )
      const client = yield* Client.make(InProcess.fromLayer(live))
      yield* client.callTool("one")
      yield* client.callTool("two")
      assert.deepStrictEqual(seen, ["one", "two"])
    }))
})
