/**
 * MCP Apps from end to end: a host that reads the views of a server and calls tools for them, over every transport and in
 * both eras.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppsClient from "@effect-mcp/extensions/AppsClient"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as AppView from "@effect-mcp/extensions/AppView"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import { info } from "./HttpFixture.js"
import { sessionless, ways } from "./Reached.js"

const html = "<!doctype html><title>Ørret</title>"
const ui = { csp: { connectDomains: ["https://api.example.com"] }, prefersBorder: false }
const Fish = AppView.make("fish", { uri: "ui://fish/fish.html", ...ui })

const Server = McpServer.layer(
  info,
  Layer.merge(
    AppsServer.tool(
      Tool.make("catch"),
      { view: Fish, html: Effect.succeed(new TextEncoder().encode(html)) },
      () => Effect.map(AppsServer.isSupported, (isSupported) => isSupported ? "shown" : "a trout")
    ),
    AppsServer.tool(Tool.make("weigh"), { view: Fish, visibility: ["app"] }, () => Effect.succeed("1 kg"))
  ),
  { extensions: [AppsServer.extension] }
)

const list = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"] satisfies ReadonlyArray<Version>) {
  for (const [way, reach] of Object.entries({ ...ways([AppsClient.extension]), ...sessionless })) {
    const connect = (extensions = [AppsClient.extension]) =>
      Effect.gen(function*() {
        const http = yield* Layer.build(NodeHttpClient.layerUndici)
        return yield* Effect.provide(Client.make(yield* reach(Server), { versions: [version], extensions }), http)
      })
    // Up to 2025-11-25, such a server does not know what its clients have declared.
    const isUnknown = way in sessionless && version !== "2026-07-28"

    describe(`MCP Apps over ${way} at ${version}`, () => {
      it.scopedLive("give a host the view of a tool, and the tools for the model and for the views", () =>
        Effect.gen(function*() {
          const client = yield* connect()
          assert.isTrue(Option.isSome(yield* client.extension(AppsClient.extension)))
          const tools = yield* list(client.tools)
          assert.deepStrictEqual(tools.map(({ name }) => name), ["catch", "weigh"])
          assert.deepStrictEqual(tools.filter(AppsClient.isForModel).map(({ name }) => name), ["catch"])
          for (const tool of tools) {
            assert.deepStrictEqual(
              yield* AppsClient.view(client, tool),
              Option.some({ ...ui, uri: Fish.uri, html, leftOut: [] })
            )
          }
          assert.deepStrictEqual((yield* AppsClient.callTool(client, tools, { name: "weigh" })).content, [
            { type: "text", text: "1 kg" }
          ])
          assert.deepStrictEqual((yield* client.callTool("catch")).content, [
            { type: "text", text: isUnknown ? "a trout" : "shown" }
          ])
        }))

      it.scopedLive("are text for a client that was not given the extension", () =>
        Effect.gen(function*() {
          const client = yield* connect([])
          const names = (yield* list(client.tools)).map(({ name }) => name)
          assert.deepStrictEqual(names, isUnknown ? ["catch", "weigh"] : ["catch"])
          assert.deepStrictEqual((yield* client.callTool("catch")).content, [{ type: "text", text: "a trout" }])
        }))
    })
  }
}

describe("MCP Apps through a proxy whose client was given the extension", () => {
  it.scopedLive("reach a host as the server sends them", () =>
    Effect.gen(function*() {
      const versions = ["2025-11-25"] as const
      const extensions = [AppsClient.extension]
      const upstream = Proxy.layer(InProcess.fromLayer(Server), { client: { versions, extensions } })
      const gateway = InProcess.fromLayer(McpServer.layer(info, upstream, { extensions }))
      const client = yield* Client.make(gateway, { versions, extensions })
      const tools = yield* list(client.tools)
      assert.deepStrictEqual(tools.map((tool) => [tool.name, AppsClient.isForModel(tool)]), [["catch", true], [
        "weigh",
        false
      ]])
      assert.deepStrictEqual(
        yield* AppsClient.view(client, tools[0]!),
        Option.some({ ...ui, uri: Fish.uri, html, leftOut: [] })
      )
      const { content } = yield* AppsClient.callTool(client, tools, { name: "weigh" })
      assert.deepStrictEqual(content, [{ type: "text", text: "1 kg" }])
    }))
})
