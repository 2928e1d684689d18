import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import * as Features from "@effect-mcp/client/Features"
import * as Notifications from "@effect-mcp/client/Notifications"
import { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Chunk, Deferred, Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream } from "effect"
import { answered, waiting } from "./Scripts.js"

const numbered = (n: number) => Message.notification("notifications/ours", { n })
const numbers = (heard: Chunk.Chunk<Message.Notification>) => Chunk.toArray(heard).map(({ params }) => params?.n)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const odd = (method: string) => Diagnostic.Overloaded({ method, limit: 1 })

describe("Notifications", () => {
  it.scoped("are heard in order by everybody who listens, from when they began to", () =>
    Effect.gen(function*() {
      const { all, end, publish } = yield* Notifications.make
      publish(numbered(0))
      const early = yield* waiting(Stream.runCollect(all))
      publish(numbered(1))
      publish(numbered(2))
      const late = yield* waiting(Stream.runCollect(all))
      publish(numbered(3))
      yield* end
      assert.deepStrictEqual(numbers(yield* Fiber.join(early)), [1, 2, 3])
      assert.deepStrictEqual(numbers(yield* Fiber.join(late)), [3])
    }))

  it.scoped("are kept for a slow listener, up to 256: then the oldest are lost, and to nobody else", () =>
    Effect.gen(function*() {
      const { all, end, publish } = yield* Notifications.make
      assert.strictEqual(Notifications.CAPACITY, 256)
      const wake = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      const slow = yield* waiting(Stream.runCollect(
        Stream.tap(all, () => Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(wake)))
      ))
      const quick = yield* waiting(Stream.runCollect(all))
      // The slow one takes the first and sits on it.
      publish(numbered(0))
      yield* Deferred.await(taken)
      for (const n of range(1, 1001)) {
        publish(numbered(n))
        // Time enough for the quick one.
        if (n % 100 === 0) yield* Effect.repeatN(Effect.yieldNow(), 10)
      }
      yield* end
      yield* Deferred.succeed(wake, undefined)
      assert.deepStrictEqual(numbers(yield* Fiber.join(quick)), range(0, 1001))
      assert.deepStrictEqual(numbers(yield* Fiber.join(slow)), [0, ...range(1001 - 256, 1001)])
    }))

  it.scoped("end after the last, and are none for who comes later", () =>
    Effect.gen(function*() {
      const { all, diagnostics, end, logs, publish } = yield* Notifications.make
      yield* end
      yield* end
      publish(numbered(1))
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(all)), 0)
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(logs)), 0)
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(diagnostics)), 0)
    }))

  it.scoped("end with their scope, after what was not yet heard", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { all, publish } = yield* Scope.extend(Notifications.make, scope)
      const listening = yield* waiting(Stream.runCollect(all))
      publish(numbered(1))
      publish(numbered(2))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(numbers(yield* Fiber.join(listening)), [1, 2])
    }))

  it.scoped("that are logs are heard as such; what is no log is left out", () =>
    Effect.gen(function*() {
      const { end, logs, publish } = yield* Notifications.make
      const listening = yield* waiting(Stream.runCollect(logs))
      const log = (params: Message.Params | undefined) => publish(Message.notification("notifications/message", params))
      log({ level: "info", data: "text" })
      log({ level: "error", data: { a: [1, null] }, logger: "db" })
      log({ level: "debug", data: null })
      log({ level: "loud", data: 1 })
      log({ level: "info" })
      log({ data: 1 })
      log(undefined)
      publish(numbered(1))
      yield* end
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(listening)), [
        { level: "info", data: "text" },
        { level: "error", data: { a: [1, null] }, logger: "db" },
        { level: "debug", data: null }
      ])
    }))

  it.scoped("that are changes, updates or the end of a page are heard as such; what is none is left out", () =>
    Effect.gen(function*() {
      const { elicitationsCompleted, end, listChanges, publish, resourceUpdates } = yield* Notifications.make
      const streams: ReadonlyArray<Stream.Stream<string>> = [listChanges, resourceUpdates, elicitationsCompleted]
      const listening = yield* Effect.forEach(streams, (stream) => waiting(Stream.runCollect(stream)))
      const say = (method: string, params?: Message.Params) => publish(Message.notification(method, params))
      for (const kind of ["tools", "prompts", "resources", "smells"]) say(`notifications/${kind}/list_changed`)
      for (const uri of ["a:b", 7, undefined]) say("notifications/resources/updated", { uri })
      for (const elicitationId of ["1", 1, null]) say("notifications/elicitation/complete", { elicitationId })
      yield* end
      const heard = yield* Effect.forEach(listening, (fiber) => Effect.map(Fiber.join(fiber), Chunk.toArray))
      assert.deepStrictEqual(heard, [["tools", "prompts", "resources"], ["a:b"], ["1"]])
    }))

  it.scoped("leave no listener behind who stops listening", () =>
    Effect.gen(function*() {
      const { all, diagnostics, end, publish, report } = yield* Notifications.make
      const listening = yield* waiting(Stream.runDrain(all))
      const once = yield* waiting(Stream.runHead(all))
      const odds = yield* waiting(Stream.runDrain(diagnostics))
      publish(numbered(1))
      assert.strictEqual((yield* Fiber.join(once))._tag, "Some")
      yield* Fiber.interrupt(listening)
      yield* Fiber.interrupt(odds)
      publish(numbered(2))
      yield* report(odd("nobody's"))
      yield* end
    }))
})

describe("An diagnostic", () => {
  /** What is logged at any level while this runs. */
  const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => {
        lines.push(String(message))
      })
      return Effect.as(effect, lines).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.All)
      )
    })

  it.scoped("is told to who listens, and logged when nobody does", () =>
    Effect.gen(function*() {
      const { diagnostics, report } = yield* Notifications.make
      const unheard = yield* logged(report(odd("first")))
      assert.deepStrictEqual(unheard, ["Refused \"first\": 1 are in flight"])
      const listening = yield* waiting(Stream.runCollect(Stream.take(diagnostics, 1)))
      assert.deepStrictEqual(yield* logged(report(odd("second"))), [])
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(listening)), [odd("second")])
      assert.lengthOf(yield* logged(report(odd("third"))), 1)
    }))
})

describe("What a server tells unasked", () => {
  it.scoped("reaches who listens to the client, in order, and ends with the conversation", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
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

  it.scoped("is there when the call returns during which it was told", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
      const logs = yield* waiting(Stream.runHead(client.logs))
      const calling = yield* Effect.fork(client.callTool("echo"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.notify("notifications/message", { level: "info", data: "working" })
      yield* server.send(Message.success(id, { content: [] }))
      yield* Fiber.join(calling)
      assert.deepStrictEqual((yield* Effect.flatten(Fiber.join(logs))).data, "working")
    }))

  it.scoped("may have the server asked by who listens, and by who hears its logs", () =>
    Effect.gen(function*() {
      const connected = yield* Deferred.make<ClientSessionService>()
      const ask = Effect.flatMap(Deferred.await(connected), (client) => Effect.ignore(client.ping()))
      const { client, server } = yield* TestClient.make({ client: { features: Features.logging(() => ask) } })
      yield* Deferred.succeed(connected, client)
      const listening = yield* waiting(Stream.runForEach(Stream.take(client.notifications, 1), () => ask))
      yield* server.notify("notifications/message", { level: "info", data: "hello" })
      for (const _ of [1, 2]) {
        const { id } = yield* server.expectRequest("ping")
        yield* server.send(Message.success(id, {}))
      }
      yield* Fiber.join(listening)
    }))

  it.scoped("holds up nobody who does not listen fast enough", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
      const stuck = yield* waiting(Stream.runForEach(client.notifications, () => Effect.never))
      for (const n of range(0, 2000)) yield* server.notify("notifications/ours", { n })
      yield* answered(server, client.ping(), "ping", {})
      yield* Fiber.interrupt(stuck)
    }))

  it.scoped("is an diagnostic when it answers nothing, or nothing any more", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
      const diagnostics = yield* waiting(Stream.runCollect(Stream.take(client.diagnostics, 4)))
      yield* server.send(Message.success(1, {}))
      yield* server.send(Message.success("never asked", {}))
      yield* server.send(Message.failure(undefined, { code: -32700, message: "what?" }))
      yield* server.send([1] as never)
      const seen = Chunk.toArray(yield* Fiber.join(diagnostics))
      assert.deepInclude(seen[0], { _tag: "UnknownResponse", late: true })
      assert.deepInclude(seen[1], { _tag: "UnknownResponse", late: false })
      assert.deepInclude(seen[2], { _tag: "UnattributedError", error: { code: -32700, message: "what?" } })
      assert.deepInclude(seen[3], { _tag: "Malformed" })
      // Batches are malformed requests, and requests are answered.
      assert.strictEqual((yield* server.expectError(undefined)).code, -32600)
    }))
})

describe("What a server asks", () => {
  it.scoped("is answered when it is a ping", () =>
    Effect.gen(function*() {
      const { server } = yield* TestClient.make()
      const id = yield* server.request("ping", undefined, "0")
      assert.deepStrictEqual(yield* server.expectResult(id), {})
    }))

  it.scoped("is answered with method not found when it is anything else", () =>
    Effect.gen(function*() {
      const { server } = yield* TestClient.make()
      for (const method of ["roots/list", "sampling/createMessage", "elicitation/create", "tools/list", "x", ""]) {
        const error = yield* server.expectError(yield* server.request(method))
        assert.strictEqual(error.code, -32601)
        assert.deepStrictEqual(error.data, { method })
      }
      yield* server.expectSilence
    }))

  it.scoped("is answered while a call of ours waits, and on its account", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
      const calling = yield* Effect.fork(client.callTool("asks"))
      const { id } = yield* server.expectRequest("tools/call")
      // Its ids are no business of ours: this one is also the id of our call.
      const asked = yield* server.request("roots/list", {}, id)
      assert.strictEqual((yield* server.expectError(asked)).code, -32601)
      yield* server.send(Message.success(id, { content: [] }))
      yield* Fiber.join(calling)
    }))
})
