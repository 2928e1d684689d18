import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@effect-mcp/core/Message"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { acknowledge, beside, cacheable, complete, connect } from "./ModernServer.js"

const subscriptionId = "io.modelcontextprotocol/subscriptionId"
const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }

const tagged = ({ id }: Message.Request) => ({ _meta: { [subscriptionId]: id } })

/** A client whose subscription the server has acknowledged. */
const connectAcknowledged = Effect.gen(function*() {
  const peers = yield* connect(capabilities)
  const first = yield* peers.server.expectRequest("subscriptions/listen")
  yield* acknowledge(peers.server, first)
  return { ...peers, first }
})

describe("An acknowledgement", () => {
  it.scoped("belongs to the request that it names, while the subscription is opened again and replaced", () =>
    Effect.gen(function*() {
      const { client, first, server } = yield* connectAcknowledged
      yield* complete(server, first.id, tagged(first))
      yield* TestClock.adjust("2 seconds")
      const reopened = yield* server.expectRequest("subscriptions/listen")
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const second = yield* server.expectRequest("subscriptions/listen")
      const seen = yield* beside(Stream.runHead(client.listChanges))
      yield* acknowledge(server, reopened)
      assert.strictEqual(yield* Effect.flatten(Fiber.join(seen)), "tools")
      assert.isNull(subscribing.unsafePoll())
      yield* acknowledge(server, second)
      yield* Fiber.join(subscribing)
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", reopened.id)
    }))

  it.scoped("of a request that the client has cancelled is ignored, and so is one of an unknown request", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connectAcknowledged
      const a = yield* beside(Effect.flip(client.subscribeResource("file:///a", { timeout: "5 seconds" })))
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(a)
      yield* server.expectNotification("notifications/cancelled")
      const b = yield* beside(client.subscribeResource("file:///b"))
      const third = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, second)
      yield* acknowledge(server, { ...third, id: "unknown" }, {})
      yield* acknowledge(server, third)
      yield* Fiber.join(b)
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("belongs to the newest request when it names none, and to a number that it names as a string", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connectAcknowledged
      for (const uri of ["file:///a", "file:///b"]) {
        const subscribing = yield* beside(client.subscribeResource(uri))
        const { id, params } = yield* server.expectRequest("subscriptions/listen")
        yield* server.notify("notifications/subscriptions/acknowledged", {
          notifications: params?.notifications,
          ...(uri === "file:///a" ? undefined : { _meta: { [subscriptionId]: String(id) } })
        })
        yield* Fiber.join(subscribing)
        yield* server.expectNotification("notifications/cancelled")
      }
    }))
})

describe("The end of a subscription by the server", () => {
  it.scoped("is that of the request that it names, while another is to replace it", () =>
    Effect.gen(function*() {
      const { client, first, server } = yield* connectAcknowledged
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* server.notify("notifications/cancelled", { requestId: { toString: 1 } })
      yield* server.notify("notifications/cancelled", { requestId: first.id })
      yield* TestClock.adjust("1 second")
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", first.id)
      yield* acknowledge(server, second)
      yield* Fiber.join(subscribing)
    }))
})

describe("A gap in the subscription", () => {
  for (const ended of ["before", "while"] as const) {
    it.scoped(`counts as changes when the server ends the subscription ${ended} another request replaces it`, () =>
      Effect.gen(function*() {
        const { client, first, server } = yield* connectAcknowledged
        const list = Effect.gen(function*() {
          const listing = yield* beside(client.listTools())
          yield* cacheable(server, (yield* server.expectRequest("tools/list")).id, { tools: [] }, 3_600_000)
          yield* Fiber.join(listing)
        })
        yield* list
        yield* client.listTools()
        const seen = yield* beside(Stream.runCollect(Stream.take(client.listChanges, 1)))
        if (ended === "before") yield* complete(server, first.id, tagged(first))
        const subscribing = yield* beside(client.subscribeResource("file:///a"))
        const second = yield* server.expectRequest("subscriptions/listen")
        if (ended === "while") yield* complete(server, first.id, tagged(first))
        yield* acknowledge(server, second)
        yield* Fiber.join(subscribing)
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(seen)), ["tools"])
        yield* list
      }))
  }

  it.scoped("is none when the subscription is open until another replaces it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connectAcknowledged
      const listing = yield* beside(client.listTools())
      yield* cacheable(server, (yield* server.expectRequest("tools/list")).id, { tools: [] }, 3_600_000)
      yield* Fiber.join(listing)
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"))
      yield* Fiber.join(subscribing)
      yield* server.expectNotification("notifications/cancelled")
      yield* client.listTools()
    }))

  it.scoped("has a task read for those that still follow it, when another has stopped", () =>
    Effect.gen(function*() {
      const id = "io.modelcontextprotocol/tasks"
      const { client, server } = yield* connect({ extensions: { [id]: {} } }, { extensions: [TasksClient.extension] })
      const { status } = yield* TasksClient.attach(client, "t", "t1")
      const [one, other] = [yield* beside(Stream.runDrain(status)), yield* beside(Stream.runDrain(status))]
      const state = {
        taskId: "t1",
        status: "working",
        createdAt: "2026-07-28T10:00:00Z",
        lastUpdatedAt: "2026-07-28T10:00:00Z",
        ttlMs: null,
        pollIntervalMs: 60_000
      }
      // The subscription and the first read of the state begin side by side.
      const requests = [yield* server.next, yield* server.next] as ReadonlyArray<Message.Request>
      const [first, reading] = ["subscriptions/listen", "tasks/get"].map((method) =>
        requests.find((request) => request.method === method)!
      ) as [Message.Request, Message.Request]
      yield* complete(server, reading.id, state)
      yield* acknowledge(server, first)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(one)
      yield* complete(server, first.id, tagged(first))
      yield* TestClock.adjust("2 seconds")
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"))
      const ended = { ...state, status: "completed", result: { content: [] } }
      yield* complete(server, (yield* server.expectRequest("tasks/get")).id, ended)
      yield* Fiber.join(other)
      yield* server.expectNotification("notifications/cancelled")
    }))
})
