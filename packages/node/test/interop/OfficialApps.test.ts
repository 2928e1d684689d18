/**
 * MCP Apps with the official helpers: a client of Effect MCP reads what their server helpers register, and their host and
 * their view reach a server of Effect MCP, through the official client or through that of Effect MCP.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppsClient from "@effect-mcp/extensions/AppsClient"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as AppView from "@effect-mcp/extensions/AppView"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Client as Official, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { App } from "@modelcontextprotocol/ext-apps"
import {
  AppBridge,
  buildAllowAttribute,
  getToolUiResourceUri,
  isToolVisibilityAppOnly,
  McpUiResourceMetaSchema,
  McpUiToolMetaSchema
} from "@modelcontextprotocol/ext-apps/app-bridge"
import { Chunk, Deferred, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { fixture, node } from "../Fixture.js"
import { info } from "../HttpFixture.js"

const versions: ReadonlyArray<Version> = ["2025-11-25", "2026-07-28"]

for (const version of versions) {
  describe(`A client of Effect MCP and a server with the official helpers of MCP Apps at ${version}`, () => {
    const connect = (extensions = [AppsClient.extension]) =>
      Client.make(
        StdioClient.connector({ command: node, args: [fixture("officialApps.mjs")], stderr: "inherit" }),
        { versions: [version], extensions }
      )
    const toolOf = (client: ClientSessionService, name: string) =>
      Effect.map(
        Stream.runHead(Stream.filter(client.tools, (tool) => tool.name === name)),
        Option.getOrThrow
      )

    it.scopedLive("reads the views of tools, by either key, with the metadata of the content or of the list", () =>
      Effect.gen(function*() {
        const client = yield* connect()
        assert.deepStrictEqual(
          yield* AppsClient.view(client, yield* toolOf(client, "forecast")),
          Option.some({
            uri: "ui://weather/map.html",
            html: "<title>Map</title>",
            csp: { connectDomains: ["https://api.example.com"] },
            leftOut: []
          })
        )
        assert.deepStrictEqual(
          yield* AppsClient.view(client, yield* toolOf(client, "earlier")),
          Option.some({
            uri: "ui://weather/listed.html",
            html: "<title>List</title>",
            prefersBorder: true,
            leftOut: []
          })
        )
        assert.deepStrictEqual(yield* AppsClient.view(client, yield* toolOf(client, "declared")), Option.none())
        for (const name of ["bad", "page"]) {
          const error = yield* Effect.flip(AppsClient.view(client, yield* toolOf(client, name)))
          assert.strictEqual(error._tag === "TransportError" && error.reason, "Decode")
        }
      }))

    it.scopedLive("gives the model no tool for views only, which views may call", () =>
      Effect.gen(function*() {
        const client = yield* connect()
        const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(client.tools))
        assert.deepStrictEqual(tools.filter(AppsClient.isForModel).map(({ name }) => name), [
          "forecast",
          "earlier",
          "bad",
          "page",
          "declared"
        ])
        const { content } = yield* AppsClient.callTool(client, tools, { name: "refresh" })
        assert.deepStrictEqual(content, [{ type: "text", text: "\"new\"" }])
      }))

    it.scopedLive("is seen to show views when it was given the extension, and only then", () =>
      Effect.gen(function*() {
        for (
          const [extensions, expected] of [
            [[AppsClient.extension], `{"mimeTypes":["text/html;profile=mcp-app"]}`],
            [[], "undefined"]
          ] as const
        ) {
          const { content } = yield* (yield* connect([...extensions])).callTool("declared")
          assert.deepStrictEqual(content, [{ type: "text", text: expected }])
        }
      }))
  })
}

const html = "<!doctype html><title>Map</title>"
const ui = {
  csp: { connectDomains: ["https://api.example.com"], frameDomains: [], resourceDomains: ["https://*.example.com"] },
  permissions: { camera: {}, microphone: {}, geolocation: {}, clipboardWrite: {} },
  domain: "a.example.com",
  prefersBorder: true
}
const Map = AppView.make("map", { uri: "ui://weather/map.html", ...ui })

const Server = McpServer.layer(
  info,
  Layer.mergeAll(
    AppsServer.tool(
      Tool.make("forecast", { parameters: { city: Schema.String }, success: Schema.Struct({ celsius: Schema.Int }) }),
      { view: Map, html },
      () => Effect.succeed({ celsius: 7 })
    ),
    AppsServer.tool(
      Tool.make("refresh", { parameters: { n: Schema.Int } }),
      { view: Map, visibility: ["app"] },
      ({ n }) => Effect.succeed(`refreshed ${n}`)
    ),
    AppsServer.tool(Tool.make("secret"), { view: Map, visibility: ["model"] }, () => Effect.succeed("secret"))
  ),
  { extensions: [AppsServer.extension] }
)

const host = { name: "host", version: "1.0.0" }
const extensions = { [AppsClient.extension.id]: { mimeTypes: ["text/html;profile=mcp-app"] } }

/** An official client of the server over HTTP, which shows views. */
const official = (mode: "legacy" | { readonly pin: string }) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(Layer.provide(HttpServer.layer({ port: 0 }), Server))
    const { url } = yield* Effect.provide(HttpServer.HttpServer, context)
    const client = new Official(host, { versionNegotiation: { mode }, capabilities: { extensions } })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect(new StreamableHTTPClientTransport(new URL(url)))),
      () => Effect.promise(() => client.close())
    )
    return client
  })

/** The view of a bridge, over a transport in memory in place of that of the browser. */
const viewOf = (bridge: AppBridge, prepare: (app: App) => void = () => {}): Effect.Effect<App, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [mine, theirs] = InMemoryTransport.createLinkedPair()
    const app = new App({ name: "map", version: "1.0.0" }, {}, { autoResize: false, allowUnsafeEval: true })
    prepare(app)
    yield* Effect.promise(() => bridge.connect(mine))
    yield* Effect.promise(() => app.connect(theirs))
    yield* Effect.addFinalizer(() => Effect.promise(() => app.close()))
    return app
  })

const modes = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const

for (const [version, mode] of Object.entries(modes)) {
  describe(`A server of Effect MCP and the official helpers of MCP Apps at ${version}`, () => {
    it.scopedLive("describes tools and views as their schemas say", () =>
      Effect.gen(function*() {
        const client = yield* official(mode)
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.deepStrictEqual(
          tools.map((tool) => [tool.name, getToolUiResourceUri(tool), isToolVisibilityAppOnly(tool)]),
          [
            ["forecast", Map.uri, false],
            ["refresh", Map.uri, true],
            ["secret", Map.uri, false]
          ]
        )
        for (const { _meta } of tools) McpUiToolMetaSchema.parse(_meta?.ui)
        const { resources } = yield* Effect.promise(() => client.listResources())
        const { contents } = yield* Effect.promise(() => client.readResource({ uri: Map.uri }))
        for (const { _meta, mimeType } of [resources[0]!, contents[0]!]) {
          assert.strictEqual(mimeType, "text/html;profile=mcp-app")
          assert.deepStrictEqual(McpUiResourceMetaSchema.parse(_meta?.ui), ui as unknown)
        }
        assert.strictEqual(AppsClient.allowAttribute(ui), buildAllowAttribute(ui.permissions))
      }))

    it.scopedLive("serves a view, through the official host and client", () =>
      Effect.gen(function*() {
        const client = yield* official(mode)
        const bridge = new AppBridge(client, host, { serverTools: {}, serverResources: {} })
        const app = yield* viewOf(bridge)
        const called = yield* Effect.promise(() => app.callServerTool({ name: "refresh", arguments: { n: 7 } }))
        assert.deepStrictEqual(called.content, [{ type: "text", text: "refreshed 7" }])
        const { contents } = yield* Effect.promise(() => app.readServerResource({ uri: Map.uri }))
        assert.deepInclude(contents[0], { uri: Map.uri, text: html })
        const { resources } = yield* Effect.promise(() => app.listServerResources())
        assert.deepStrictEqual(resources.map(({ name }) => name), ["map"])
        const wrong = yield* Effect.tryPromise(() => app.callServerTool({ name: "refresh", arguments: {} })).pipe(
          Effect.map(({ isError }) => isError),
          Effect.orElseSucceed(() => true)
        )
        assert.isTrue(wrong)
      }))

    it.scopedLive("serves a view, through the official host and the client of Effect MCP", () =>
      Effect.gen(function*() {
        const session = yield* Client.make(InProcess.fromLayer(Server), {
          versions: [version as Version],
          extensions: [AppsClient.extension]
        })
        const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(session.tools))
        const bridge = new AppBridge(null, host, { serverTools: {} })
        bridge.oncalltool = (params, { mcpReq }) =>
          Effect.runPromise(AppsClient.callTool(session, tools, params), { signal: mcpReq.signal }) as Promise<any>
        // The result of the model's call goes to the view as soon as the view is there.
        const { content, structuredContent } = yield* session.callTool("forecast", { city: "Oslo" })
        bridge.oninitialized = () => void bridge.sendToolResult({ content, structuredContent } as any)
        const shown = yield* Deferred.make<unknown>()
        const app = yield* viewOf(bridge, (app) => {
          app.ontoolresult = ({ structuredContent }) => Deferred.unsafeDone(shown, Effect.succeed(structuredContent))
        })
        assert.deepStrictEqual(yield* Deferred.await(shown), { celsius: 7 })
        const called = yield* Effect.promise(() => app.callServerTool({ name: "refresh", arguments: { n: 1 } }))
        assert.deepStrictEqual(called.content, [{ type: "text", text: "refreshed 1" }])
        const error = yield* Effect.flip(Effect.tryPromise(() => app.callServerTool({ name: "secret" })))
        assert.include(String(error.error), "views may not call this tool")
      }))
  })
}
