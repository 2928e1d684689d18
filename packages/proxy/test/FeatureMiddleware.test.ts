import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as Tool from "@effect-mcp/core/Tool"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Context, Effect, Layer, Schema, Stream } from "effect"
import { pairs, server } from "./Setting.js"

const features = Layer.mergeAll(
  McpServer.tool(Tool.make("open", { parameters: { n: Schema.NumberFromString } }), ({ n }) => Effect.succeed(`${n}`)),
  McpServer.tool(Tool.make("admin"), () => Effect.succeed("done")),
  Feature.make(({ tools }) =>
    tools.register({
      context: Context.empty(),
      advertised: { name: "strange", inputSchema: { type: "object" } },
      call: () => Effect.succeed(MethodHandler.unchecked({ content: [{ type: "hologram", depth: 3 }] }) as never)
    })
  ),
  McpServer.resource(Resource.make("file", { uri: "file:///a" }), Effect.succeed("key=sk-ant-api03-abcdefghijklmnop"))
)

for (const [name, client, upstream] of pairs) {
  describe(`What surrounds a proxy, ${name}`, () => {
    const through = (around: (proxy: ReturnType<typeof Proxy.layer>) => Layer.Layer<never, never, any>) =>
      Effect.gen(function*() {
        const upstreamServer = yield* server(features, { versions: upstream }, "upstream", { oracle: false })
        const gateway = McpServer.layer(
          { name: "gateway", version: "1.0.0" },
          around(Proxy.layer(upstreamServer, { name: "up" })) as Layer.Layer<never>
        )
        const context = yield* Layer.build(gateway)
        const connector = yield* Effect.provideService(
          TestServer.connector({ oracle: false }),
          Dispatcher,
          Context.get(context, Dispatcher)
        )
        return yield* Client.make(connector, { versions: client, clientInfo: { name: "guest", version: "1" } })
      })

    it.scopedLive("hides an entry of the upstream by user, in lists and in calls", () =>
      Effect.gen(function*() {
        const session = yield* through(Feature.visible((entry) =>
          Effect.map(RequestContext, ({ client }) => entry.name !== "admin" || client.info?.name === "admin")
        ))
        const tools = Chunk.toArray(yield* Stream.runCollect(session.tools))
        assert.deepStrictEqual(
          tools.map(({ name }) =>
            name
          ),
          ["open", "strange"]
        )
        assert.deepInclude(yield* Effect.flip(session.callTool("admin")), { message: "Unknown tool: admin" })
      }))

    it.scopedLive("sees the arguments as the client sent them, and may hide secrets in the results", () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const watch = FeatureMiddleware.make((use) =>
          Effect.zipRight(Effect.sync(() => seen.push([use.kind, use.entry.name, use.arguments])), use.next)
        )
        const session = yield* through((proxy) =>
          proxy.pipe(
            FeatureMiddleware.around(watch),
            FeatureMiddleware.around(
              FeatureMiddleware.redact({ text: (text) => text.replaceAll(/sk-[\w-]+/g, "<hidden>") })
            )
          )
        )
        const result = yield* session.callTool("open", { n: "7" })
        assert.deepStrictEqual(result.content, [{ type: "text", text: "7" }])
        const read = yield* session.readResource("file:///a")
        assert.deepInclude(read.contents[0], { text: "key=<hidden>" })
        assert.deepStrictEqual(seen, [["tool", "open", { n: "7" }], ["resource", "file:///a", {}]])
      }))

    it.scopedLive("leaves kinds of content as they are that this library does not know", () =>
      Effect.gen(function*() {
        const session = yield* through(FeatureMiddleware.around(FeatureMiddleware.redact()))
        const { content } = yield* session.request("tools/call", { name: "strange" })
        assert.deepStrictEqual<unknown>(content, [{ type: "hologram", depth: 3 }])
      }))
  })
}
