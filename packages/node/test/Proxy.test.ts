/** A proxy behind HTTP, whose anonymous clients of 2026-07-28 cannot be told apart. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Remote from "@effect-mcp/client/Remote"
import * as Tool from "@effect-mcp/definition/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as McpServer from "@effect-mcp/server/McpServer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, Logger, Ref } from "effect"
import { info, served } from "./HttpFixture.js"

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

/** What two anonymous clients of a proxy get for three calls, and the warnings of the proxy. */
const counts = (host: string) =>
  Effect.gen(function*() {
    const warnings: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel._tag === "Warning") warnings.push(String(message))
    })
    const upstream = yield* Layer.build(counting)
    const connector = yield* Effect.provideService(
      TestServer.connector(),
      Dispatcher,
      Context.get(upstream, Dispatcher)
    )
    const server = yield* Layer.build(
      served(Proxy.layer(connector, { name: "up" }), { host, allowedHosts: ["*"] }).pipe(
        Layer.provide(Logger.replace(Logger.defaultLogger, logger))
      )
    )
    const { port } = Context.get(server, HttpServer.HttpServer)
    const http = yield* Layer.build(NodeHttpClient.layerUndici)
    const client = Effect.provide(
      Client.make(Remote.connector(`http://127.0.0.1:${port}/mcp`), { versions: ["2026-07-28"] }),
      http
    )
    const [first, second] = [yield* client, yield* client]
    const answers = yield* Effect.forEach([first, first, second], (client) => client.callTool("count"))
    return { counts: answers.map(({ content }) => content[0]?.type === "text" && content[0].text), warnings }
  })

describe("Anonymous clients of 2026-07-28 of a proxy", () => {
  it.scopedLive("share one session with the upstream when the server listens on loopback", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* counts("127.0.0.1"), { counts: ["1", "2", "3"], warnings: [] })
    }))

  it.scopedLive("have a session for each request on other addresses, and one warning says so", () =>
    Effect.gen(function*() {
      const { counts: answers, warnings } = yield* counts("0.0.0.0")
      assert.deepStrictEqual(answers, ["1", "1", "1"])
      assert.strictEqual(warnings.length, 1)
      assert.include(warnings[0], "`authenticator`")
      assert.include(warnings[0], "`sessions: \"shared\"`")
    }))
})
