import { assert, describe, it } from "@effect/vitest"
import type { CallOptions } from "@effect-mcp/client/CallOptions"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import { acknowledge, beside, cacheable, connect, requireInput } from "./ModernServer.js"

const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} }

const list = (client: ClientSessionService, cursor?: string) =>
  Effect.map(client.listTools(cursor === undefined ? {} : { cursor }), ({ tools }) => tools.map(({ name }) => name))

/** Lists the tools, which the server answers with one tool of this name. */
const listed = (client: ClientSessionService, server: TestPeer, name: string, ttlMs?: number, cursor?: string) =>
  Effect.gen(function*() {
    const listing = yield* beside(list(client, cursor))
    const { id } = yield* server.expectRequest("tools/list")
    yield* cacheable(server, id, { tools: [{ name, inputSchema: { type: "object" } }] }, ttlMs)
    assert.deepStrictEqual(yield* Fiber.join(listing), [name])
  })

const start = Effect.gen(function*() {
  const { client, server } = yield* connect(capabilities)
  const listen = yield* server.expectRequest("subscriptions/listen")
  yield* acknowledge(server, listen)
  return { client, server, listen }
})

describe("Results that may be cached", () => {
  it.scoped("are used again until their time is over", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(yield* list(client), ["one"])
      yield* TestClock.adjust("1 millis")
      yield* listed(client, server, "two", 1000)
    }))

  it.scoped("are not used again with a time of zero, a negative one, or none", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 0)
      yield* listed(client, server, "two", -1)
      yield* listed(client, server, "three")
      yield* listed(client, server, "four")
    }))

  it.scoped("MUST NOT be used for another page", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* listed(client, server, "two", 1000, "next")
      assert.deepStrictEqual(yield* list(client), ["one"])
      assert.deepStrictEqual(yield* list(client, "next"), ["two"])
    }))

  it.scoped("are dropped when the list has changed", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* server.notify("notifications/tools/list_changed", {
        _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
      })
      yield* listed(client, server, "two", 1000)
    }))

  it.scoped("are not kept when the list has changed on their way", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      const listing = yield* beside(list(client))
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.notify("notifications/tools/list_changed", {
        _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
      })
      yield* cacheable(server, id, { tools: [] }, 1000)
      yield* Fiber.join(listing)
      yield* listed(client, server, "two", 1000)
    }))

  it.scoped("SHOULD be dropped when the server refuses the cursor of a page: the list begins again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* listed(client, server, "two", 1000, "2")
      const listing = yield* beside(Effect.flip(list(client, "3")))
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "Unknown cursor" } })
      assert.strictEqual((yield* Fiber.join(listing))._tag, "InvalidParams")
      yield* listed(client, server, "new", 1000)
      yield* listed(client, server, "newer", 1000, "2")
    }))

  it.scoped("MUST NOT be kept from a round with answers, and MUST NOT be used where the call has members of its own", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      const read = (text: string, options?: CallOptions) =>
        Effect.gen(function*() {
          const reading = yield* beside(client.readResource("file:///a", options))
          const { id } = yield* server.expectRequest("resources/read")
          if (options === undefined) yield* requireInput(server, id, { requestState: "s" })
          const last = options === undefined ? (yield* server.expectRequest("resources/read")).id : id
          yield* cacheable(server, last, { contents: [{ uri: "file:///a", text }] }, 1000)
          assert.deepStrictEqual((yield* Fiber.join(reading)).contents, [{ uri: "file:///a", text }])
        })
      yield* read("one")
      yield* read("two")
      yield* read("three", { meta: { "com.example/own": 1 } })
    }))

  it.scoped("of a resource are dropped when it, or one below it, is updated, and no other", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      const read = (uri: string) =>
        Effect.gen(function*() {
          const reading = yield* beside(client.readResource(uri))
          const { id } = yield* server.expectRequest("resources/read")
          yield* cacheable(server, id, { contents: [] }, 1000)
          yield* Fiber.join(reading)
        })
      yield* read("file:///a")
      yield* read("file:///b")
      const updated = (uri: string) =>
        server.notify("notifications/resources/updated", {
          uri,
          _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
        })
      yield* updated("file:///a/below")
      yield* read("file:///a")
      yield* updated("file:///a")
      yield* read("file:///a")
      yield* client.readResource("file:///b")
    }))

  it.scoped("do not exist for prompts and calls", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      for (let i = 0; i < 2; i++) {
        const getting = yield* beside(client.getPrompt("p"))
        const { id } = yield* server.expectRequest("prompts/get")
        yield* cacheable(server, id, { messages: [] }, 1000)
        yield* Fiber.join(getting)
      }
    }))

  it.scoped("are kept for at most 256 requests, the newest ones", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      for (let page = 0; page <= 256; page++) yield* listed(client, server, `t${page}`, 1000, `${page}`)
      assert.deepStrictEqual(yield* list(client, "1"), ["t1"])
      yield* listed(client, server, "again", 1000, "0")
    }))
})
