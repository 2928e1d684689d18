import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import type * as Registry from "@effect-mcp/core/Registry"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Chunk, Context, Deferred, Effect, Exit, Fiber, FiberId, Layer, Schedule, Schema, Scope, Stream } from "effect"
import { until } from "./Fixture.js"
import { info } from "./HttpFixture.js"
import { tcpProxy } from "./TcpProxy.js"

const clients: Readonly<Record<string, Layer.Layer<HttpClient>>> = {
  "fetch": FetchHttpClient.layer,
  "undici": NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer
}

const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
const Gated = Tool.make("gated")

/** What the handlers report, and what lets them continue. */
const stage = () => {
  const gate = Deferred.unsafeMake<void>(FiberId.none)
  const log: Array<string> = []
  const features = Layer.merge(
    McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`)),
    McpServer.tool(Gated, () => Effect.zipRight(Effect.sync(() => log.push("begins")), Deferred.await(gate)))
  )
  return { features, log, release: Deferred.succeed(gate, undefined) }
}

const serve = (
  features: Layer.Layer<never, never, Registry.Registry>,
  options: Partial<HttpServer.Options> = {}
) =>
  Effect.map(
    Layer.build(
      HttpServer.layer({ port: 0, legacy: { retry: "100 millis" }, ...options }).pipe(
        Layer.provide(McpServer.layer(info, features))
      )
    ),
    Context.get(HttpServer.HttpServer)
  )

const connect = (url: string, options?: Options) =>
  Client.make(Remote.connector(url, { reconnect: Schedule.spaced("10 millis"), ...options }), {
    versions: Version.legacy
  })

for (const [name, layer] of Object.entries(clients)) {
  describe(`A client over ${name} and a server of Effect MCP`, () => {
    it.scopedLive("list and call tools, sequentially and concurrently, with JSON responses", () =>
      Effect.gen(function*() {
        const server = yield* serve(stage().features, { responses: "json" })
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(connect(server.url), scope)
        assert.strictEqual(client.version, "2025-11-25")
        assert.lengthOf(Chunk.toArray(yield* Stream.runCollect(client.tools)), 2)
        const names = Array.from({ length: 200 }, (_, n) => String(n))
        const results = yield* Effect.forEach(names, (name) => client.callTool("greet", { name }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          results.map(({ content }) => content),
          names.map((name) => [{ type: "text" as const, text: `Hello, ${name}!` }])
        )
        assert.strictEqual(server.sessions(), 1)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(server.sessions(), 0)
      }).pipe(Effect.provide(layer)))

    it.scopedLive("open a new session with a restarted server", () =>
      Effect.gen(function*() {
        const { features } = stage()
        const first = yield* Scope.make()
        let { port } = yield* Scope.extend(serve(features), first)
        // Another program could take the port meanwhile, but not that of the proxy.
        const { url } = yield* tcpProxy(() => port)
        let renewed = 0
        const client = yield* connect(`${url}/mcp`, { onRenewed: Effect.sync(() => renewed++) })
        yield* client.ping()
        yield* Scope.close(first, Exit.void)
        const refused = yield* Effect.flip(client.ping())
        assert.deepInclude(refused, { _tag: "TransportError" })
        const after = yield* serve(features)
        port = after.port
        yield* client.callTool("greet", { name: "you" })
        assert.deepStrictEqual([renewed, after.sessions()], [1, 1])
      }).pipe(Effect.provide(layer)))

    it.scopedLive("connect over the two endpoints of 2024-11-05", () =>
      Effect.gen(function*() {
        const { features, log, release } = stage()
        const server = yield* serve(features, { legacy: { ssePath: "/sse" } })
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(connect(server.url.replace(/mcp$/, "sse"), { transport: "sse" }), scope)
        yield* Effect.replicateEffect(client.callTool("greet", { name: "you" }), 20)
        const calling = yield* Effect.fork(client.callTool("gated"))
        yield* until(() => log.includes("begins"))
        yield* release
        yield* Fiber.join(calling)
        yield* Scope.close(scope, Exit.void)
      }).pipe(Effect.provide(layer)))
  })
}
