import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Config, ConfigProvider, Effect, Layer } from "effect"

const Server = McpServer.layer({ name: "configured", version: "1.0.0" }, Layer.empty)

const Web = Layer.effect(
  FetchHttpClient.Fetch,
  Effect.map(
    WebHandler.WebHandler,
    ({ handler }): typeof fetch => (input, init) => handler(new Request(input, init))
  )
).pipe(
  Layer.provide(WebHandler.layerWith({ allowedHosts: ["mcp.test"] })),
  Layer.provide(Server)
)

const Live = Remote.layerConfig({ url: Config.string("MCP_URL") }, { clientInfo: { name: "me", version: "1" } })

const from = (values: Record<string, string>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))

describe("Remote.layerConfig", () => {
  it.scopedLive("makes a client of the server at the URL of the configuration", () =>
    Effect.gen(function*() {
      const { serverInfo } = yield* Client
      assert.strictEqual(serverInfo.name, "configured")
    }).pipe(Effect.provide(
      Live.pipe(
        Layer.provide(FetchHttpClient.layer),
        Layer.provide([Web, from({ MCP_URL: "http://mcp.test/mcp" })])
      )
    )))

  it.scoped("fails with the name of what is missing in the configuration", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(Layer.provide(Live, [FetchHttpClient.layer, from({})])))
      assert.include(String(error), "MCP_URL")
    }))
})
