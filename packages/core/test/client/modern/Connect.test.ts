import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { beside, cacheable, complete, connect, envelope, version } from "./ModernServer.js"

const tools = [{ name: "one", inputSchema: { type: "object" } }] as const

describe("A modern session", () => {
  it.scoped("knows from `server/discover` who the server is and what it can do", () =>
    Effect.gen(function*() {
      const { client } = yield* connect({ tools: {} })
      assert.strictEqual(client.version, version)
      assert.deepStrictEqual(client.serverInfo, { name: "test", version: "0.0.0" })
      assert.deepStrictEqual(client.serverCapabilities, { tools: {} })
    }))

  it.scoped("MUST send its revision and its capabilities with every request, and SHOULD send its name", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} }, {
        clientInfo: { name: "me", version: "1.0.0" },
        features: ClientFeatures.roots(Effect.succeed([]))
      })
      const listing = yield* beside(client.listTools())
      const request = yield* server.expectRequest("tools/list")
      assert.deepStrictEqual(envelope(request), {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
        "io.modelcontextprotocol/clientInfo": { name: "me", version: "1.0.0" }
      })
      yield* cacheable(server, request.id, { tools })
      assert.deepStrictEqual(yield* Fiber.join(listing), { tools })
    }))

  it.scoped("declares its roots without `listChanged`, which this era does not have", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} }, {
        features: ClientFeatures.roots(Effect.succeed([]), { changes: Stream.make(1) })
      })
      const listing = yield* beside(client.listTools())
      const request = yield* server.expectRequest("tools/list")
      assert.deepPropertyVal(envelope(request), "io.modelcontextprotocol/clientCapabilities", { roots: {} })
      yield* cacheable(server, request.id, { tools })
      yield* Fiber.join(listing)
    }))

  it.scoped("gives the application results without the members of this era", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} })
      const calling = yield* beside(client.callTool("one", {}, { checkOutput: false }))
      const { id } = yield* server.expectRequest("tools/call")
      yield* complete(server, id, {
        content: [],
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1" }, "com.example/own": 1 }
      })
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [], _meta: { "com.example/own": 1 } })
    }))

  it.scoped("asks for log messages from the level on that the application sets", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ logging: {}, tools: {} })
      const level = "io.modelcontextprotocol/logLevel"
      const first = yield* beside(client.listTools())
      const before = yield* server.expectRequest("tools/list")
      assert.notProperty(envelope(before), level)
      yield* cacheable(server, before.id, { tools })
      yield* Fiber.join(first)
      yield* client.setLoggingLevel("warning")
      const second = yield* beside(client.listTools())
      const after = yield* server.expectRequest("tools/list")
      assert.propertyVal(envelope(after), level, "warning")
      yield* cacheable(server, after.id, { tools })
      yield* Fiber.join(second)
    }))

  it.scoped("asks for log messages from `info` on where the application handles them", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} }, { features: ClientFeatures.logging(() => Effect.void) })
      const listing = yield* beside(client.listTools())
      const request = yield* server.expectRequest("tools/list")
      assert.propertyVal(envelope(request), "io.modelcontextprotocol/logLevel", "info")
      yield* cacheable(server, request.id, { tools })
      yield* Fiber.join(listing)
    }))

  it.scoped("declares the capabilities and the log level that the options of one call give, in that call only", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} }, { features: ClientFeatures.roots(Effect.succeed([])) })
      const capabilities = "io.modelcontextprotocol/clientCapabilities"
      const logLevel = "io.modelcontextprotocol/logLevel"
      const options = { capabilities: { sampling: {} }, logLevel: "error" } as const
      const first = yield* beside(client.request("tools/call", { name: "one" }, options))
      const given = yield* server.expectRequest("tools/call")
      assert.deepInclude(envelope(given), { [capabilities]: { sampling: {} }, [logLevel]: "error" })
      yield* complete(server, given.id, { content: [] })
      yield* Fiber.join(first)
      const second = yield* beside(client.request("tools/call", { name: "one" }))
      const own = yield* server.expectRequest("tools/call")
      assert.deepPropertyVal(envelope(own), capabilities, { roots: {} })
      assert.notProperty(envelope(own), logLevel)
      yield* complete(server, own.id, { content: [] })
      yield* Fiber.join(second)
    }))

  it.scoped("finds out by `server/discover` whether the server answers, where the application sends a ping", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const pinging = yield* beside(client.ping())
      const { id } = yield* server.expectRequest("server/discover")
      yield* complete(server, id, { supportedVersions: [version], capabilities: {}, ttlMs: 0, cacheScope: "private" })
      yield* Fiber.join(pinging)
    }))

  it.scoped("MUST NOT answer a request of the server, and gets the answer to its own", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} })
      const listing = yield* beside(client.listTools())
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.request("roots/list")
      yield* cacheable(server, id, { tools })
      assert.deepStrictEqual(yield* Fiber.join(listing), { tools })
    }))

  it.scoped("MUST cancel a call by a notification, over a pipe", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} })
      const calling = yield* beside(client.callTool("one"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* Fiber.interrupt(calling)
      const cancelled = yield* server.expectNotification("notifications/cancelled")
      assert.propertyVal(cancelled, "requestId", id)
    }))

  it.scoped("gives the log messages and the progress of a call to the application", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ logging: {}, tools: {} })
      const seen: Array<number> = []
      const logs = yield* beside(Stream.runCollect(Stream.take(client.logs, 1)))
      const calling = yield* beside(client.callTool("one", {}, {
        checkOutput: false,
        onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
      }))
      const { id, params } = yield* server.expectRequest("tools/call")
      const { progressToken } = params?._meta as { readonly progressToken: string | number }
      yield* server.notify("notifications/progress", { progressToken, progress: 1 })
      yield* server.notify("notifications/message", { level: "info", data: "half" })
      yield* complete(server, id, { content: [] })
      yield* Fiber.join(calling)
      assert.deepStrictEqual(seen, [1])
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(logs)), [{ level: "info", data: "half" }])
    }))

  it.scoped("opens without a message when the application knows the server from before", () =>
    Effect.gen(function*() {
      const { client } = yield* connect({ tools: {} })
      const prior = JSON.parse(JSON.stringify({
        version: client.version,
        serverInfo: client.serverInfo,
        serverCapabilities: client.serverCapabilities
      }))
      const { client: later, server } = yield* TestClient.connected({ versions: [version], prior })
      assert.deepStrictEqual(later.serverInfo, client.serverInfo)
      const listing = yield* beside(later.listTools())
      const { id } = yield* server.expectRequest("tools/list")
      yield* cacheable(server, id, { tools })
      assert.deepStrictEqual(yield* Fiber.join(listing), { tools })
    }))
})
