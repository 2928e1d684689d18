/** A proxy behind HTTP, whose anonymous clients of 2026-07-28 cannot be told apart. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Exit, Layer, Logger, Ref, Scope } from "effect"
import { createServer } from "node:http"
import { info, served } from "./HttpFixture.js"

class User extends Context.Tag("test/User")<User, string>() {}

class Counter extends Context.Tag("test/Counter")<Counter, Ref.Ref<number>>() {}

/** An upstream up to 2025-11-25 that counts the calls of each session. */
const counting = McpServer.layer(
  info,
  McpServer.tool(
    Tool.make("count"),
    () => Effect.flatMap(Counter, (counter) => Effect.map(Ref.updateAndGet(counter, (n) => n + 1), String))
  ),
  { versions: ["2025-11-25"], session: Layer.effect(Counter, Ref.make(0)) }
)

/** Connects to the upstream in this process. */
const toCounting = Effect.flatMap(
  Layer.build(counting),
  (upstream) => Effect.provideService(TestServer.connector(), Dispatcher, Context.get(upstream, Dispatcher))
)

/** A layer that keeps the warnings of others. */
const warned = () => {
  const warnings: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel._tag === "Warning") warnings.push(String(message))
  })
  return { layer: Logger.replace(Logger.defaultLogger, logger), warnings }
}

/** What two anonymous clients of a proxy get for three calls, and the warnings of the proxy, of which `atStart` come before them. */
const counts = (host: string) =>
  Effect.gen(function*() {
    const { layer, warnings } = warned()
    const server = yield* Layer.build(
      served(Proxy.layer(yield* toCounting, { name: "up" }), { host, allowedHosts: ["*"] }).pipe(Layer.provide(layer))
    )
    const atStart = warnings.length
    const { port } = Context.get(server, HttpServer.HttpServer)
    const http = yield* Layer.build(NodeHttpClient.layerUndici)
    const client = Effect.provide(
      Client.make(Remote.connector(`http://127.0.0.1:${port}/mcp`), { versions: ["2026-07-28"] }),
      http
    )
    const [first, second] = [yield* client, yield* client]
    const answers = yield* Effect.forEach([first, first, second], (client) => client.callTool("count"))
    return { counts: answers.map(({ content }) => content[0]?.type === "text" && content[0].text), atStart, warnings }
  })

describe("Anonymous clients of 2026-07-28 of a proxy", () => {
  it.scopedLive("share one session with the upstream when the server listens on loopback", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* counts("127.0.0.1"), { counts: ["1", "2", "3"], atStart: 0, warnings: [] })
    }))

  it.scopedLive("have a session for each request on other addresses, and one warning says so at start", () =>
    Effect.gen(function*() {
      const { atStart, counts: answers, warnings } = yield* counts("0.0.0.0")
      assert.deepStrictEqual(answers, ["1", "1", "1"])
      assert.deepStrictEqual([atStart, warnings.length], [1, 1])
      assert.include(warnings[0], "`authenticator`")
      assert.include(warnings[0], "`sessions: \"shared\"`")
    }))

  it.scopedLive("are not a reason for a warning where they cannot be, or share a session anyway", () =>
    Effect.gen(function*() {
      const connector = yield* toCounting
      const open = { port: 0, host: "0.0.0.0" }
      const authenticator = Authenticator.make(User, { id: (id) => id, http: () => Effect.succeed("ada") })
      const servers = [
        served(Proxy.layer(connector, { sessions: "shared" }), open),
        served(Proxy.layer(connector), open, Layer.empty, { versions: ["2025-11-25"] }),
        Layer.provide(
          HttpServer.layer(open),
          McpServer.layer(info, Proxy.layer(connector), { authenticator })
        )
      ]
      for (const server of servers) {
        const { layer, warnings } = warned()
        yield* Effect.scoped(Layer.build(Layer.provide(server, layer)))
        assert.deepStrictEqual(warnings, [])
      }
    }))

  it.scopedLive("are a reason for it in a web handler, whose address is not known, and on a server of the platform", () =>
    Effect.gen(function*() {
      const server = McpServer.layer(info, Proxy.layer(yield* toCounting))
      const on = (host: string) =>
        Layer.provide(HttpEndpoint.layer, PlatformHttpServer.layer(createServer, { port: 0, host }))
      for (
        const [endpoint, count] of [[WebHandler.layer, 1], [on("0.0.0.0"), 1], [on("127.0.0.1"), 0]] as const
      ) {
        const { layer, warnings } = warned()
        yield* Effect.scoped(
          Layer.build(endpoint.pipe(Layer.provide(server), Layer.provide(layer)) as Layer.Layer<unknown, unknown>)
        )
        assert.strictEqual(warnings.length, count)
      }
    }))
})

describe("An upstream over HTTP that restarts", () => {
  /** A server on this port. `stop` ends it. */
  const started = (port: number, runs: Array<string>, version: Version) =>
    Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const count = McpServer.tool(Tool.make("count"), () => Effect.sync(() => String(runs.push("count"))))
      const context = yield* Layer.buildWithScope(served(count, { port }, Layer.empty, { versions: [version] }), scope)
      return { port: Context.get(context, HttpServer.HttpServer).port, stop: Scope.close(scope, Exit.void) }
    })

  for (const sessions of ["each", "shared"] as const) {
    for (const client of ["2025-11-25", "2026-07-28"] as const) {
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        it.scopedLive(`serves the next call once (a client of ${client}, an upstream of ${version}, sessions: ${sessions})`, () =>
          Effect.gen(function*() {
            const runs: Array<string> = []
            const first = yield* started(0, runs, version)
            // Without connections that are kept: a request on one whose end the client has not seen may have been served.
            const http = yield* Layer.build(NodeHttpClient.layer)
            const upstream = Remote.connector(`http://127.0.0.1:${first.port}/mcp`)
            const gateway = yield* Layer.build(McpServer.layer(
              info,
              Layer.provide(Proxy.layer(upstream, { sessions }), Layer.succeedContext(http))
            ))
            const session = yield* Client.make(
              yield* Effect.provideService(TestServer.connector(), Dispatcher, Context.get(gateway, Dispatcher)),
              { versions: [client] }
            )
            yield* session.callTool("count")
            yield* first.stop
            yield* started(first.port, runs, version)
            assert.deepStrictEqual((yield* session.callTool("count")).content, [{ type: "text", text: "2" }])
            assert.lengthOf(runs, 2)
          }))
      }
    }
  }
})
