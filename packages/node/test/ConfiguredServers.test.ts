import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { ClientSessionGroup } from "@effect-mcp/client/ClientSessionGroup"
import * as Tool from "@effect-mcp/definition/Tool"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as McpServer from "@effect-mcp/server/McpServer"
import { Effect, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"

const everything = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url)
)

const Echo = Tool.make("hello", { parameters: { name: Schema.String } })
const overHttp = HttpServer.layer({ port: 0 }).pipe(
  Layer.provide(
    McpServer.layer({ name: "hello", version: "1" }, McpServer.tool(Echo, ({ name }) => Effect.succeed(name)))
  )
)

const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

describe("The servers of a configuration", () => {
  it.scopedLive("are launched or connected to, and form one group", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const servers = ConfiguredServers.layer({
        mcpServers: {
          everything: { command: "${NODE}", args: [everything] },
          hello: { type: "http", url: "${URL}" },
          gone: { command: "/nowhere/at/all" }
        }
      }, { environment: { NODE: process.execPath, URL: url }, stderr: "ignore" })
      yield* Effect.gen(function*() {
        const group = yield* ClientSessionGroup
        assert.deepStrictEqual([...(yield* group.sessions).keys()].sort(), ["everything", "hello"])
        assert.strictEqual(text(yield* group.callTool("hello", { name: "Ada" })), "Ada")
        assert.strictEqual(text(yield* group.callTool("echo", { message: "hi" })), "Echo: hi")
      }).pipe(Effect.provide(servers))
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.effect("fail with a ParseError for a value that is not a configuration", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(ConfiguredServers.layer({ servers: {} }))))
      assert.strictEqual(error._tag, "ParseError")
    }).pipe(Effect.provide(FetchHttpClient.layer)))
})
