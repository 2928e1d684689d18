import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Chunk, Deferred, Effect, Exit, Fiber, Schedule, Scope, Stream } from "effect"
import { until } from "../Fixture.js"
import { tcpProxy } from "../TcpProxy.js"
import * as OfficialHttpServers from "./OfficialHttpServers.js"

const blocks = (text: string) => [{ type: "text" as const, text }]

const connect = (url: string, options?: Options) =>
  Client.make(Remote.connector(url, { reconnect: Schedule.spaced("10 millis"), ...options }))

const provided = Effect.provide(NodeHttpClient.layerUndici)

for (const version of ["1.32", "2.4"] as const) {
  describe(`A client of Effect MCP and a server over HTTP of the official SDK ${version}`, () => {
    for (const json of [true, false]) {
      it.scopedLive(`complete the handshake, list and call tools, and close, with ${json ? "JSON" : "streams"}`, () =>
        Effect.gen(function*() {
          const server = yield* OfficialHttpServers.http(version, { json })
          const scope = yield* Scope.make()
          const client = yield* Scope.extend(connect(server.url), scope)
          assert.strictEqual(client.version, "2025-11-25")
          assert.strictEqual(client.serverInfo.name, "official")
          yield* client.ping()
          assert.lengthOf(Chunk.toArray(yield* Stream.runCollect(client.tools)), 10)
          assert.deepStrictEqual((yield* client.callTool("echo", { text: "ä€😀" })).content, blocks("ä€😀"))
          const refused = yield* Effect.flip(client.callTool("refuse", { why: "not you" }))
          assert.strictEqual(refused._tag, "InvalidParams")
          assert.strictEqual(server.sessions(), 1)
          yield* Scope.close(scope, Exit.void)
          assert.strictEqual(server.sessions(), 0)
          assert.strictEqual(server.log.filter((line) => line === "DELETE").length, 1)
        }).pipe(provided))
    }

    it.scopedLive("cancel a call: the handler sees its signal, and its response is not awaited", () =>
      Effect.gen(function*() {
        const server = yield* OfficialHttpServers.http(version)
        const client = yield* connect(server.url)
        const began = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(client.callTool("wait", {}, {
          onProgress: () => Deferred.succeed(began, undefined)
        }))
        yield* Deferred.await(began)
        yield* Fiber.interrupt(calling)
        yield* until(() => server.log.includes("POST notifications/cancelled"))
        assert.deepStrictEqual((yield* client.callTool("echo", { text: "on" })).content, blocks("on"))
      }).pipe(provided))

    it.scopedLive("receive notifications outside of requests", () =>
      Effect.gen(function*() {
        const server = yield* OfficialHttpServers.http(version)
        const client = yield* connect(server.url)
        const received: Array<string> = []
        yield* Effect.forkScoped(
          Stream.runForEach(client.notifications, ({ method }) => Effect.sync(() => received.push(method)))
        )
        yield* until(() => server.log.includes("GET"))
        yield* Effect.repeat(server.changed, {
          until: () => received.length > 0,
          schedule: Schedule.spaced("5 millis")
        })
        assert.strictEqual(received[0], "notifications/tools/list_changed")
      }).pipe(provided))

    it.scopedLive("resume a call after its connection was cut", () =>
      Effect.gen(function*() {
        const server = yield* OfficialHttpServers.http(version, { resumable: true, retry: 100 })
        const { cut, url } = yield* tcpProxy(server.port)
        const client = yield* connect(`${url}/mcp`)
        const seen: Array<number> = []
        const calling = yield* Effect.fork(client.callTool("gated", {}, {
          onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
        }))
        yield* until(() => seen.length === 3)
        yield* cut
        yield* server.release
        const { content } = yield* Fiber.join(calling)
        assert.deepStrictEqual(content, blocks("done"))
        assert.deepStrictEqual(seen, [1, 2, 3, 4, 5, 6])
        assert.strictEqual(server.log.filter((line) => line === "POST tools/call").length, 1)
      }).pipe(provided))

    it.scopedLive("open a new session when the server has lost theirs", () =>
      Effect.gen(function*() {
        const server = yield* OfficialHttpServers.http(version)
        let renewed = 0
        const client = yield* connect(server.url, { onRenewed: Effect.sync(() => renewed++) })
        yield* client.ping()
        yield* server.forget
        const results = yield* Effect.replicateEffect(client.callTool("echo", { text: "on" }), 3).pipe(
          Effect.zipLeft(client.ping(), { concurrent: true })
        )
        assert.lengthOf(results, 3)
        assert.strictEqual(renewed, 1)
        assert.strictEqual(server.sessions(), 1)
      }).pipe(provided))
  })
}

describe("A client of Effect MCP and a server of 2024-11-05", () => {
  it.scopedLive("connect", () =>
    Effect.gen(function*() {
      const { url } = yield* OfficialHttpServers.sse
      for (const transport of ["auto", "sse"] as const) {
        const client = yield* connect(url, { transport })
        const texts = Array.from({ length: 50 }, (_, n) => String(n))
        const results = yield* Effect.forEach(texts, (text) => client.callTool("echo", { text }), { concurrency: 50 })
        assert.deepStrictEqual(results.map(({ content }) => content), texts.map(blocks))
      }
      const error = yield* Effect.flip(connect(url, { transport: "streamable" }))
      assert.include(error.message, "was answered with 404")
    }).pipe(provided))
})
