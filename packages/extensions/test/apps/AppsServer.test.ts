import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as AppView from "@effect-mcp/extensions/AppView"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, Schema } from "effect"

const ID = "io.modelcontextprotocol/ui"
const mimeTypes = ["text/html;profile=mcp-app"]
const uri = "ui://weather/map.html"
const html = "<!doctype html><title>Map</title>"
const csp = { connectDomains: ["https://api.example.com"] }

const Map = AppView.make("map", { uri, csp })
const Forecast = Tool.make("forecast", {
  parameters: { city: Schema.String },
  success: Schema.Struct({ celsius: Schema.Number }),
  meta: { "example.com/x": 1 }
})

class Pages extends Context.Tag("test/Pages")<Pages, string>() {}

const features = Layer.mergeAll(
  AppsServer.tool(Forecast, { view: Map, html: Pages }, () => Effect.succeed({ celsius: 7 })),
  AppsServer.tool(Tool.make("refresh"), { view: Map, visibility: ["app"] }, () => Effect.succeed("refreshed")),
  McpServer.tool(
    Tool.make("shows"),
    () => Effect.map(Effect.zip(AppsServer.isSupported, ServerSession), ([isSupported]) => String(isSupported))
  )
).pipe(Layer.provide(Layer.succeed(Pages, html)))

const serve = <E, R>(features: Layer.Layer<never, E, R>, options?: McpServer.Options) =>
  McpServer.layer({ name: "test", version: "0.0.0" }, features, options)

const textOf = ({ content }: JsonObject) => (content as ReadonlyArray<{ readonly text: string }>)[0]?.text

const server = serve(features, { extensions: [AppsServer.extension] })

type Send = (method: string, params?: JsonObject) => Effect.Effect<JsonObject, TransportError>

/** A client of each era that declares these extensions, and what the server declares. */
const eras = {
  "2025-11-25": (extensions: JsonObject) =>
    Effect.gen(function*() {
      const peer = yield* TestPeer.client()
      const { capabilities } = yield* peer.initialize({ version: "2025-11-25", capabilities: { extensions } })
      const send: Send = (method, params) => Effect.flatMap(peer.request(method, params), peer.expectResult)
      return { send, capabilities }
    }),
  "2026-07-28": (extensions: JsonObject) =>
    Effect.gen(function*() {
      const peer = (yield* TestPeer.client()).modern({ capabilities: { extensions } })
      const send: Send = (method, params) => Effect.flatMap(peer.request(method, params), peer.expectResult)
      return { send, capabilities: (yield* send("server/discover")).capabilities }
    })
} as const

const named = ({ tools }: JsonObject) => (tools as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)

for (const [version, client] of Object.entries(eras)) {
  describe(`Apps.tool at ${version}`, () => {
    it.effect("lists the tool with its view, and serves the view with its media type and metadata", () =>
      Effect.gen(function*() {
        const { capabilities, send } = yield* client({ [ID]: { mimeTypes } })
        assert.deepStrictEqual((capabilities as JsonObject).extensions, { [ID]: {} })
        const { tools } = yield* send("tools/list")
        assert.deepStrictEqual(
          (tools as ReadonlyArray<JsonObject>).map(({ _meta, name }) => [name, _meta]),
          [
            ["forecast", { "example.com/x": 1, ui: { resourceUri: uri } }],
            ["refresh", { ui: { resourceUri: uri, visibility: ["app"] } }],
            ["shows", undefined]
          ]
        )
        const mimeType = mimeTypes[0]
        const { resources } = yield* send("resources/list")
        assert.deepStrictEqual(resources, [{ name: "map", uri, mimeType, _meta: { ui: { csp } } }])
        const { contents } = yield* send("resources/read", { uri })
        assert.deepStrictEqual(contents, [{ uri, mimeType, text: html, _meta: { ui: { csp } } }])
      }).pipe(Effect.scoped, Effect.provide(server)))

    it.effect("gives text to clients that show views and to those that do not", () =>
      Effect.gen(function*() {
        for (const extensions of [{}, { [ID]: { mimeTypes } }]) {
          const { send } = yield* client(extensions)
          const { content, structuredContent } = yield* send("tools/call", {
            name: "forecast",
            arguments: { city: "Oslo" }
          })
          assert.deepStrictEqual(content, [{ type: "text", text: `{"celsius":7}` }])
          assert.deepStrictEqual(structuredContent, { celsius: 7 })
        }
      }).pipe(Effect.scoped, Effect.provide(server)))

    it.effect("shows a tool for views only to clients that show views, and tells handlers which do", () =>
      Effect.gen(function*() {
        const all = ["forecast", "refresh", "shows"]
        for (
          const [extensions, isSupported] of [
            [{ [ID]: { mimeTypes } }, true],
            [{ [ID]: { mimeTypes: ["text/uri-list", "text/html; profile=mcp-app"] } }, true],
            [{ [ID]: { mimeTypes: ["text/html"] } }, false],
            [{ [ID]: { mimeTypes: "text/html;profile=mcp-app" } }, false],
            [{ [ID]: {} }, false],
            [{}, false]
          ] as const
        ) {
          const { send } = yield* client(extensions)
          const shows = yield* send("tools/call", { name: "shows" })
          assert.strictEqual(textOf(shows), String(isSupported), JSON.stringify(extensions))
          assert.deepStrictEqual(named(yield* send("tools/list")), isSupported ? all : ["forecast", "shows"])
        }
      }).pipe(Effect.scoped, Effect.provide(server)))

    it.effect("is off on a server that was not given the extension", () =>
      Effect.gen(function*() {
        const { capabilities, send } = yield* client({ [ID]: { mimeTypes } })
        assert.notProperty(capabilities, "extensions")
        assert.deepStrictEqual(named(yield* send("tools/list")), ["forecast", "shows"])
        assert.strictEqual(textOf(yield* send("tools/call", { name: "shows" })), "false")
      }).pipe(Effect.scoped, Effect.provide(serve(features))))

    it.effect("has a counterpart in a definition: the tool names its view, which is one of the resources", () =>
      Effect.gen(function*() {
        const { send } = yield* client({ [ID]: { mimeTypes } })
        assert.deepStrictEqual(
          (yield* send("tools/list")).tools,
          [{ name: "time", inputSchema: { type: "object", additionalProperties: false }, _meta: AppView.meta(Clock) }]
        )
        const { contents } = yield* send("resources/read", { uri: Clock.uri })
        assert.deepStrictEqual(contents, [{
          uri: Clock.uri,
          mimeType: mimeTypes[0],
          blob: "aGk=",
          _meta: { ui: { prefersBorder: false } }
        }])
      }).pipe(Effect.scoped, Effect.provide(serve(implemented))))
  })
}

const Clock = AppView.make("clock", { uri: "ui://clock", prefersBorder: false })

const implemented = McpServer.implement(
  Definition.make(Tool.make("time", { meta: AppView.meta(Clock) }), Clock),
  {
    time: () => Effect.succeed("noon"),
    resources: { clock: Effect.succeed(new TextEncoder().encode("hi")) }
  }
)

describe("AppsServer.tool up to 2025-03-26", () => {
  it.effect("is a tool without a view: lists have no `_meta` there", () =>
    Effect.gen(function*() {
      const peer = yield* TestPeer.client()
      const { capabilities } = yield* peer.initialize({
        version: "2025-03-26",
        capabilities: { extensions: { [ID]: { mimeTypes } } }
      })
      assert.notProperty(capabilities, "extensions")
      const list = yield* peer.expectResult(yield* peer.request("tools/list"))
      assert.deepStrictEqual(named(list), ["forecast", "shows"])
      assert.notProperty((list.tools as ReadonlyArray<JsonObject>)[0], "_meta")
    }).pipe(Effect.scoped, Effect.provide(server)))
})

describe("The document of a view", () => {
  it.effect("may fail as any resource may, and its effect runs for each reading", () => {
    let count = 0
    const document = Effect.suspend(() =>
      ++count === 1 ? Effect.succeed("one") : new McpError.InternalError({ message: "gone" })
    )
    const feature = AppsServer.tool(Tool.make("a"), { view: Map, html: document }, () => Effect.succeed("a"))
    return Effect.gen(function*() {
      const peer = yield* TestPeer.client()
      yield* peer.initialize()
      const { contents } = yield* peer.expectResult(yield* peer.request("resources/read", { uri }))
      assert.strictEqual((contents as ReadonlyArray<JsonObject>)[0]?.text, "one")
      assert.strictEqual((yield* peer.expectError(yield* peer.request("resources/read", { uri }))).message, "gone")
    }).pipe(Effect.scoped, Effect.provide(serve(feature, { extensions: [AppsServer.extension] })))
  })

  it("does not compile when it fails otherwise, nor does a handler that fails with what its tool does not declare", () => {
    const fails = Effect.fail("no" as const)
    // @ts-expect-error the failure "no" is not declared
    AppsServer.tool(Tool.make("a"), { view: Map, html: fails }, () => Effect.succeed("a"))
    // @ts-expect-error the failure "no" is not declared
    AppsServer.tool(Tool.make("a"), { view: Map }, () => fails)
  })
})
