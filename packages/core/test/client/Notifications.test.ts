import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Message from "@effect-mcp/core/Message"
import { Chunk, Deferred, Effect, Fiber, Stream } from "effect"
import { answered, legacyClient, waiting } from "./Scripts.js"

describe("A notification or a stray response of the server", () => {
  it.scoped("reaches the listeners of the client, in order, until the session ends", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const all = yield* waiting(Stream.runCollect(client.notifications))
      const logs = yield* waiting(Stream.runCollect(client.logs))
      yield* server.notify("notifications/tools/list_changed")
      yield* server.notify("notifications/message", { level: "info", data: "one" })
      yield* server.notify("notifications/ours", { _meta: { a: 1 } })
      yield* server.notify("notifications/message", { level: "alert", data: "two" })
      yield* server.expectSilence
      yield* server.hangUp
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(all)).map(({ method }) => method), [
        "notifications/tools/list_changed",
        "notifications/message",
        "notifications/ours",
        "notifications/message"
      ])
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(logs)).map(({ data }) => data), ["one", "two"])
      assert.isTrue(Chunk.isEmpty(yield* Stream.runCollect(client.notifications)))
    }))

  it.scoped("that was sent during a call is there when the call returns", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const logs = yield* waiting(Stream.runHead(client.logs))
      const calling = yield* Effect.fork(client.callTool("echo"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.notify("notifications/message", { level: "info", data: "working" })
      yield* server.send(Message.success(id, { content: [] }))
      yield* Fiber.join(calling)
      assert.deepStrictEqual((yield* Effect.flatten(Fiber.join(logs))).data, "working")
    }))

  it.scoped("is given to onNotification before a call returns whose answer came after it", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const { client, server } = yield* legacyClient({
        client: { onNotification: ({ method }) => void seen.push(method) }
      })
      const calling = yield* Effect.fork(Effect.zipRight(client.callTool("echo"), Effect.sync(() => [...seen])))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.notify("notifications/tools/list_changed")
      yield* server.notify("notifications/message", { level: "info", data: "working" })
      yield* server.send(Message.success(id, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(calling), ["notifications/tools/list_changed", "notifications/message"])
    }))

  it.scoped("may cause calls: from its listener, and from the logging feature", () =>
    Effect.gen(function*() {
      const connected = yield* Deferred.make<ClientSessionService>()
      const ask = Effect.flatMap(Deferred.await(connected), (client) => Effect.ignore(client.ping()))
      const { client, server } = yield* legacyClient({ client: { features: ClientFeatures.logging(() => ask) } })
      yield* Deferred.succeed(connected, client)
      const listening = yield* waiting(Stream.runForEach(Stream.take(client.notifications, 1), () => ask))
      yield* server.notify("notifications/message", { level: "info", data: "hello" })
      for (const _ of [1, 2]) {
        const { id } = yield* server.expectRequest("ping")
        yield* server.send(Message.success(id, {}))
      }
      yield* Fiber.join(listening)
    }))

  it.scoped("does not wait for a slow listener", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const stuck = yield* waiting(Stream.runForEach(client.notifications, () => Effect.never))
      for (const n of Array(2000).keys()) yield* server.notify("notifications/ours", { n })
      yield* answered(server, client.ping(), "ping", {})
      yield* Fiber.interrupt(stuck)
    }))

  it.scoped("is a diagnostic when no call waits for it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const diagnostics = yield* waiting(Stream.runCollect(Stream.take(client.diagnostics, 4)))
      yield* server.send(Message.success(1, {}))
      yield* server.send(Message.success("unknown", {}))
      yield* server.send(Message.failure(undefined, { code: -32700, message: "what?" }))
      yield* server.send([1] as never)
      const seen = Chunk.toArray(yield* Fiber.join(diagnostics))
      assert.deepInclude(seen[0], { _tag: "UnknownResponse", late: true })
      assert.deepInclude(seen[1], { _tag: "UnknownResponse", late: false })
      assert.deepInclude(seen[2], { _tag: "UnattributedError", error: { code: -32700, message: "what?" } })
      assert.deepInclude(seen[3], { _tag: "Malformed" })
      // A client answers nothing that is not a request.
      yield* server.expectSilence
    }))
})

describe("A request of the server", () => {
  it.scoped("is answered when it is a ping", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient()
      const id = yield* server.request("ping", undefined, "0")
      assert.deepStrictEqual(yield* server.expectResult(id), {})
    }))

  it.scoped("is answered with \"method not found\" when no feature handles it", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient()
      for (const method of ["roots/list", "sampling/createMessage", "elicitation/create", "tools/list", "x", ""]) {
        const error = yield* server.expectError(yield* server.request(method))
        assert.strictEqual(error.code, -32601)
        assert.deepStrictEqual(error.data, { method })
      }
      yield* server.expectSilence
    }))

  it.scoped("is answered while a call waits that has the same id", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calling = yield* Effect.fork(client.callTool("asks"))
      const { id } = yield* server.expectRequest("tools/call")
      // The server's ids are its own: this one is also the id of our call.
      const request = yield* server.request("roots/list", {}, id)
      assert.strictEqual((yield* server.expectError(request)).code, -32601)
      yield* server.send(Message.success(id, { content: [] }))
      yield* Fiber.join(calling)
    }))
})
