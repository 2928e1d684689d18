import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect, Fiber, Queue } from "effect"
import * as ServerLists from "../../src/group/ServerLists.js"
import { failure } from "../Scripts.js"

const all = { tools: { listChanged: true }, resources: {}, prompts: {} }

const answer = (server: TestClient.TestClient["server"], answers: Readonly<Record<string, JsonObject>>) =>
  Effect.forEach(Object.keys(answers), () =>
    Effect.flatMap(server.next, (message) => {
      const { id, method } = message as Message.Request
      return server.send(Message.success(id, answers[method]!))
    }))

describe("The lists of a server", () => {
  it.scoped("are read where the server declares the capability, all pages of them", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: { tools: {} } })
      const reading = yield* Effect.fork(ServerLists.read(client))
      const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
      yield* answer(server, { "tools/list": { tools: [tool("a")], nextCursor: "b" } })
      yield* answer(server, { "tools/list": { tools: [tool("b")] } })
      const { prompts, resources, templates, tools } = yield* Fiber.join(reading)
      assert.deepStrictEqual(tools.map(({ name }) => name), ["a", "b"])
      assert.deepStrictEqual([prompts, resources, templates], [[], [], []])
    }))

  it.scoped("is empty where the server answers with an error", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: { prompts: {} } })
      const reading = yield* Effect.fork(ServerLists.read(client))
      const { id } = yield* server.expectRequest("prompts/list")
      yield* server.send(Message.failure(id, { code: -32601, message: "Method not found" }))
      assert.deepStrictEqual((yield* Fiber.join(reading)).prompts, [])
    }))

  it.scoped("fail to be read when the server hangs up", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const reading = yield* Effect.fork(failure(ServerLists.read(client)))
      for (const _ of [1, 2, 3, 4]) yield* server.next
      yield* server.hangUp
      assert.strictEqual((yield* Fiber.join(reading))._tag, "ConnectionClosed")
    }))
})

describe("A change of the lists", () => {
  it.scoped("counts from when listening began; several count as one", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const change = yield* ServerLists.changes(client)
      for (const _ of [1, 2, 3]) yield* server.notify("notifications/tools/list_changed")
      // All of them have come when a call that was answered after them is over.
      yield* Effect.zip(client.ping(), answer(server, { ping: {} }), { concurrent: true })
      yield* change
      const again = yield* Effect.fork(change)
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      assert.isNull(again.unsafePoll())
      yield* server.notify("notifications/tools/list_changed")
      yield* Fiber.join(again)
    }))

  it.scoped("refreshes until the session ends, also after a refresh that failed", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const refreshed = yield* Queue.unbounded<void>()
      const watching = yield* Effect.fork(ServerLists.follow(
        client,
        yield* ServerLists.changes(client),
        Effect.zipRight(refreshed.offer(), client.request("gone", {}, { timeout: 0 }))
      ))
      for (const _ of [1, 2]) {
        yield* server.notify("notifications/tools/list_changed")
        yield* refreshed.take
      }
      yield* server.hangUp
      yield* Fiber.join(watching)
    }))
})
