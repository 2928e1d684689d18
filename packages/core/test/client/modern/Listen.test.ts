import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import type * as Message from "@effect-mcp/core/Message"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { acknowledge, beside, complete, connect, envelope } from "./ModernServer.js"

const subscriptionId = "io.modelcontextprotocol/subscriptionId"
const changes = { tools: { listChanged: true }, prompts: { listChanged: true } }

const tagged = ({ id }: Message.Request) => ({ _meta: { [subscriptionId]: id } })

/** The next diagnostic of a client. */
const diagnostic = (client: ClientSessionService) => beside(Effect.flatten(Stream.runHead(client.diagnostics)))

describe("The subscription of a modern client", () => {
  it.scoped("names the lists that the server can report, and gives their changes to the application", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(changes)
      const listen = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(listen.params?.notifications, { toolsListChanged: true, promptsListChanged: true })
      assert.property(envelope(listen), "io.modelcontextprotocol/protocolVersion")
      yield* acknowledge(server, listen)
      const seen = yield* beside(Stream.runCollect(Stream.take(client.listChanges, 2)))
      yield* server.notify("notifications/prompts/list_changed", tagged(listen))
      yield* server.notify("notifications/tools/list_changed", tagged(listen))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(seen)), ["prompts", "tools"])
    }))

  /** Fails when the client has sent a request. */
  const expectSilence = ({ client, server }: Effect.Effect.Success<ReturnType<typeof connect>>) =>
    Effect.gen(function*() {
      const listing = yield* beside(client.listTools())
      const { id } = yield* server.expectRequest("tools/list")
      yield* complete(server, id, { tools: [], ttlMs: 0, cacheScope: "public" })
      yield* Fiber.join(listing)
    })

  it.scoped("is not opened when the server reports nothing", () =>
    Effect.flatMap(connect({ tools: {} }), expectSilence))

  it.scoped("has a second request for a resource, and ends the first once the second is acknowledged", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ ...changes, resources: { subscribe: true } })
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const second = yield* server.expectRequest("subscriptions/listen")
      assert.deepInclude(second.params?.notifications, {
        toolsListChanged: true,
        resourceSubscriptions: ["file:///a"]
      })
      yield* acknowledge(server, second)
      yield* Fiber.join(subscribing)
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", first.id)
      const updated = yield* beside(Stream.runHead(client.resourceUpdates))
      yield* server.notify("notifications/resources/updated", { uri: "file:///a", ...tagged(second) })
      assert.deepStrictEqual(yield* Effect.flatten(Fiber.join(updated)), "file:///a")
    }))

  it.scoped("fails to include a resource that the server does not acknowledge", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ resources: { subscribe: true } })
      const subscribing = yield* beside(Effect.flip(client.subscribeResource("file:///a")))
      const listen = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, listen, {})
      const error = yield* Fiber.join(subscribing)
      assert.strictEqual(error.message, "The server did not acknowledge the subscription to \"file:///a\"")
    }))

  it.scoped("fails to include a resource when the server refuses", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ resources: { subscribe: true } })
      const subscribing = yield* beside(Effect.flip(client.subscribeResource("file:///a")))
      const { id } = yield* server.expectRequest("subscriptions/listen")
      yield* server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "No" } })
      assert.strictEqual((yield* Fiber.join(subscribing)).message, "No")
    }))

  it.scoped("is opened again after it ended, and then everything in it counts as changed", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(changes)
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      const seen = yield* beside(Stream.runCollect(Stream.take(client.listChanges, 2)))
      yield* complete(server, first.id, tagged(first))
      yield* TestClock.adjust("2 seconds")
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, second)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(seen)), ["tools", "prompts"])
    }))

  it.scoped("is opened again more and more slowly while the server does not acknowledge it", () =>
    Effect.gen(function*() {
      const { server } = yield* connect(changes)
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      yield* complete(server, first.id, tagged(first))
      for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        const again = yield* server.expectRequest("subscriptions/listen")
        yield* server.send({ jsonrpc: "2.0", id: again.id, error: { code: -32603, message: "Busy" } })
      }
    }))

  it.scoped("is opened again when the server has cancelled it, with or without a result", () =>
    Effect.gen(function*() {
      const { server } = yield* connect(changes)
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      yield* server.notify("notifications/cancelled", { requestId: first.id, ...tagged(first) })
      yield* complete(server, first.id, tagged(first))
      yield* TestClock.adjust("1 second")
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, second)
      yield* server.notify("notifications/cancelled", { requestId: "another" })
      yield* server.notify("notifications/cancelled", { requestId: second.id, ...tagged(second) })
      yield* TestClock.adjust("1 second")
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", second.id)
      yield* TestClock.adjust("2 seconds")
      yield* Effect.flatMap(server.expectRequest("subscriptions/listen"), (third) => acknowledge(server, third))
    }))

  it.scoped("is not opened again when the connection has ended", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(changes)
      yield* Effect.flatMap(server.expectRequest("subscriptions/listen"), (first) => acknowledge(server, first))
      yield* server.hangUp
      yield* client.ended
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      const waits = Chunk.toReadonlyArray(yield* TestClock.sleeps()).filter((at) => at < 5_000)
      assert.deepStrictEqual(waits, [])
    }))

  it.scoped("does not include a resource that the server has not acknowledged in time, and stays as it was", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ ...changes, resources: { subscribe: true } })
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      const subscribing = yield* beside(Effect.flip(client.subscribeResource("file:///a", { timeout: "5 seconds" })))
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(subscribing), {
        _tag: "RequestTimeout",
        method: "resources/subscribe",
        millis: 5000
      })
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", second.id)
      const seen = yield* beside(Stream.runHead(client.listChanges))
      yield* server.notify("notifications/tools/list_changed", tagged(first))
      assert.deepStrictEqual(yield* Effect.flatten(Fiber.join(seen)), "tools")
      const again = yield* beside(client.subscribeResource("file:///b"))
      const third = yield* server.expectRequest("subscriptions/listen")
      assert.deepPropertyVal(third.params?.notifications as object, "resourceSubscriptions", ["file:///b"])
      yield* acknowledge(server, third)
      yield* Fiber.join(again)
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", first.id)
    }))

  it.scoped("is opened again when it ended while the server refused the one that was to replace it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ ...changes, resources: { subscribe: true } })
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      const subscribing = yield* beside(Effect.flip(client.subscribeResource("file:///a")))
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* complete(server, first.id, tagged(first))
      yield* server.send({ jsonrpc: "2.0", id: second.id, error: { code: -32603, message: "No" } })
      yield* Fiber.join(subscribing)
      const third = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(third.params?.notifications, first.params?.notifications)
      const seen = yield* beside(Stream.runCollect(Stream.take(client.listChanges, 2)))
      yield* acknowledge(server, third)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(seen)), ["tools", "prompts"])
    }))

  it.scoped("has no request for a resource that it includes already, and none for one that it does not", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ resources: { subscribe: true } })
      yield* client.unsubscribeResource("file:///a")
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const listen = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, listen)
      yield* Fiber.join(subscribing)
      yield* client.subscribeResource("file:///a")
      yield* client.unsubscribeResource("file:///a")
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", listen.id)
    }))

  it.scoped("counts what an acknowledgement names as null as absent", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ ...changes, resources: { subscribe: true } })
      yield* Effect.flatMap(server.expectRequest("subscriptions/listen"), (first) => acknowledge(server, first))
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const second = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, second, { toolsListChanged: null, resourceSubscriptions: ["file:///a"] })
      yield* Fiber.join(subscribing)
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("is not acknowledged as far as the acknowledgement cannot be read, which is reported", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(changes)
      const listen = yield* server.expectRequest("subscriptions/listen")
      const reported = yield* diagnostic(client)
      yield* acknowledge(server, listen, { toolsListChanged: "yes" })
      const problem = yield* Fiber.join(reported)
      assert.deepInclude(problem, { _tag: "Mended", method: "notifications/subscriptions/acknowledged", count: 1 })
      yield* client.awaitSubscription
    }))

  it.scoped("is opened again more and more slowly while the server ends it at once; only what is acknowledged counts as changed", () =>
    Effect.gen(function*() {
      const peers = yield* connect(changes)
      const { client, server } = peers
      const seen = yield* beside(Stream.runCollect(Stream.take(client.listChanges, 4)))
      for (const wait of [1, 2, 4, 8]) {
        const listen = yield* server.expectRequest("subscriptions/listen")
        yield* acknowledge(server, listen, { promptsListChanged: true })
        yield* complete(server, listen.id, tagged(listen))
        yield* TestClock.adjust(`${wait / 2 - 0.1} seconds`)
        yield* expectSilence(peers)
        yield* TestClock.adjust(`${wait / 2 + 0.1} seconds`)
      }
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"), { promptsListChanged: true })
      assert.deepStrictEqual(new Set(yield* Fiber.join(seen)), new Set(["prompts"]))
    }))

  it.scoped("is opened again within a second when it was open for long", () =>
    Effect.gen(function*() {
      const { server } = yield* connect(changes)
      for (let n = 0; n < 5; n++) {
        const listen = yield* server.expectRequest("subscriptions/listen")
        yield* acknowledge(server, listen)
        yield* TestClock.adjust("1 minute")
        yield* complete(server, listen.id, tagged(listen))
        yield* TestClock.adjust("1 second")
      }
      yield* server.expectRequest("subscriptions/listen")
    }))

  it.scoped("is not opened again when the server acknowledges nothing of it, or ends it without an acknowledgement", () =>
    Effect.gen(function*() {
      for (const isAcknowledged of [true, false]) {
        const peers = yield* connect({ ...changes, resources: { subscribe: true } })
        const { client, server } = peers
        const first = yield* server.expectRequest("subscriptions/listen")
        if (isAcknowledged) yield* acknowledge(server, first, {})
        yield* complete(server, first.id, tagged(first))
        yield* TestClock.adjust("1 hour")
        yield* expectSilence(peers)
        const subscribing = yield* beside(Effect.flip(client.subscribeResource("file:///a")))
        const second = yield* server.expectRequest("subscriptions/listen")
        if (isAcknowledged) yield* acknowledge(server, second, {})
        yield* complete(server, second.id, tagged(second))
        assert.include((yield* Fiber.join(subscribing)).message, "acknowledge")
      }
    }))

  it.scoped("fails to include a resource when the server is silent for the timeout of the call", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ resources: { subscribe: true } })
      for (const [timeout, seconds] of [["5 seconds", 5], [undefined, 60]] as const) {
        const subscribing = yield* beside(
          Effect.flip(client.subscribeResource("file:///a", timeout === undefined ? {} : { timeout }))
        )
        const { id } = yield* server.expectRequest("subscriptions/listen")
        yield* TestClock.adjust(`${seconds} seconds`)
        assert.strictEqual((yield* Fiber.join(subscribing))._tag, "RequestTimeout")
        assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", id)
      }
    }))

  it.scoped("is awaited until the server acknowledges or refuses it", () =>
    Effect.gen(function*() {
      for (const outcome of ["acknowledged", "refused"]) {
        const { client, server } = yield* connect(changes)
        const waiting = yield* beside(client.awaitSubscription)
        const listen = yield* server.expectRequest("subscriptions/listen")
        assert.isNull(waiting.unsafePoll())
        if (outcome === "acknowledged") yield* acknowledge(server, listen)
        else yield* server.send({ jsonrpc: "2.0", id: listen.id, error: { code: -32603, message: "No" } })
        yield* Fiber.join(waiting)
      }
      const { client } = yield* connect({ tools: {} })
      yield* client.awaitSubscription
    }))

  const refusals = {
    "refuses it": {
      answer: ({ id }: Message.Request) => ({ jsonrpc: "2.0", id, error: { code: -32601, message: "No such method" } }),
      changes: ["toolsListChanged", "promptsListChanged"],
      reason: "No such method"
    },
    "ends it before it acknowledges it": {
      answer: ({ id }: Message.Request) => ({ jsonrpc: "2.0", id, result: { resultType: "complete" } }),
      changes: ["toolsListChanged", "promptsListChanged"],
      reason: "The server ended the subscription before it acknowledged the subscription"
    },
    "acknowledges a part of it": {
      answer: (listen: Message.Request) => ({
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true }, ...tagged(listen) }
      }),
      changes: ["promptsListChanged"],
      reason: "it has not acknowledged that it does"
    },
    "acknowledges nothing of it": {
      answer: (listen: Message.Request) => ({
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: {}, ...tagged(listen) }
      }),
      changes: ["toolsListChanged", "promptsListChanged"],
      reason: "it has not acknowledged that it does"
    },
    "does not answer": {
      answer: () => undefined,
      changes: ["toolsListChanged", "promptsListChanged"],
      reason: "it has not answered the request"
    }
  } as const
  for (const [what, { answer, changes: refused, reason }] of Object.entries(refusals)) {
    it.scoped(`is reported when the server ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connect(changes)
        const reported = yield* diagnostic(client)
        const message = answer(yield* server.expectRequest("subscriptions/listen"))
        if (message === undefined) yield* TestClock.adjust("30 seconds")
        else yield* server.send(message as never)
        assert.deepInclude(yield* Fiber.join(reported), {
          _tag: "Unsubscribed",
          peer: client.serverInfo.name,
          changes: refused,
          reason
        })
      }))
  }

  it.scoped("is reported once when the server refuses to open it again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(changes)
      const reported = yield* beside(Stream.runCollect(Stream.take(client.diagnostics, 2)))
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      yield* server.send({ jsonrpc: "2.0", id: first.id, result: { resultType: "complete" } })
      for (let n = 0; n < 3; n++) {
        yield* TestClock.adjust("30 seconds")
        const { id } = yield* server.expectRequest("subscriptions/listen")
        yield* server.send({ jsonrpc: "2.0", id, error: { code: -32603, message: "No" } })
      }
      yield* TestClock.adjust("30 seconds")
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"), { toolsListChanged: true })
      const [refused, missing] = Chunk.toReadonlyArray(yield* Fiber.join(reported))
      assert.deepInclude(refused, { reason: "No", changes: ["toolsListChanged", "promptsListChanged"] })
      assert.deepInclude(missing, { changes: ["promptsListChanged"] })
    }))

  it.scoped("is open before a group reads the lists, for at most five seconds", () =>
    Effect.gen(function*() {
      for (const isOpened of [true, false]) {
        const group = yield* ClientSessionGroup.make()
        const { client, server } = yield* connect({ tools: { listChanged: true } })
        const adding = yield* beside(group.add("one", client))
        const listen = yield* server.expectRequest("subscriptions/listen")
        if (isOpened) yield* acknowledge(server, listen)
        else yield* TestClock.adjust("5 seconds")
        const { id } = yield* server.expectRequest("tools/list")
        yield* complete(server, id, { tools: [], ttlMs: 0, cacheScope: "public" })
        yield* Fiber.join(adding)
      }
    }))
})
