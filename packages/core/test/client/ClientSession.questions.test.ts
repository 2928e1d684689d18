import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { CallOptions } from "@effect-mcp/core/ClientSession"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Deferred, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import * as ScriptedServer from "./http/ScriptedServer.js"
import { failure, legacyClient } from "./Scripts.js"

const form = { message: "Sure?", requestedSchema: { type: "object", properties: {} } }
const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 }

/** Features that answer when the test lets them. */
const slow = (released: Deferred.Deferred<void>) => {
  const after = <A>(answer: A) => Effect.as(Deferred.await(released), answer)
  return Layer.mergeAll(
    ClientFeatures.elicitation(() => after({ action: "accept", content: {} } as const)),
    ClientFeatures.sampling(() =>
      after({ role: "assistant", model: "m", content: { type: "text", text: "" } } as const)
    ),
    ClientFeatures.roots(after([])),
    ClientFeatures.request("ours/do", () => after({}))
  )
}

/** A call, in which the server asks; the call times out 60 seconds after its answer. */
const asking = (method: string, params: JsonObject, options?: CallOptions) =>
  Effect.gen(function*() {
    const released = yield* Deferred.make<void>()
    const { client, server } = yield* legacyClient({ client: { features: slow(released) } })
    const calling = yield* Effect.forkScoped(client.callTool("slow", {}, options))
    yield* server.expectRequest("tools/call")
    yield* TestClock.adjust("20 seconds")
    const question = yield* server.request(method, params)
    yield* server.expectSilence
    return { calling, question, released, server }
  })

describe("A client that answers a question of the server:", () => {
  for (
    const [method, params] of [
      ["elicitation/create", form],
      ["sampling/createMessage", prompt],
      ["roots/list", {}]
    ] as const
  ) {
    it.scoped(`the timeouts of its calls stand still: ${method}`, () =>
      Effect.gen(function*() {
        const { calling, question, released, server } = yield* asking(method, params)
        yield* TestClock.adjust("1 hour")
        assert.isNull(calling.unsafePoll())
        yield* Deferred.succeed(released, undefined)
        yield* server.expectResult(question)
        yield* TestClock.adjust("39999 millis")
        assert.isNull(calling.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* failure(Fiber.join(calling)))._tag, "RequestTimeout")
        yield* server.expectNotification("notifications/cancelled")
      }))
  }

  it.scoped("they go on when the server cancels the question", () =>
    Effect.gen(function*() {
      const { calling, question, server } = yield* asking("elicitation/create", form)
      yield* TestClock.adjust("1 hour")
      yield* server.notify("notifications/cancelled", { requestId: question })
      yield* server.expectSilence
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual((yield* failure(Fiber.join(calling)))._tag, "RequestTimeout")
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("the longest wait of a call in all goes on", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* asking("elicitation/create", form, { maxTotalTimeout: "2 minutes" })
      yield* TestClock.adjust("100 seconds")
      assert.deepInclude(yield* failure(Fiber.join(calling)), { _tag: "RequestTimeout", millis: 120_000 })
      yield* server.expectNotification("notifications/cancelled")
      yield* server.hangUp
    }))

  it.scoped("timeouts go on while it handles a method of its own", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* asking("ours/do", {})
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual((yield* failure(Fiber.join(calling)))._tag, "RequestTimeout")
      yield* server.expectNotification("notifications/cancelled")
      yield* server.hangUp
    }))

  it.scoped("they stand still over HTTP, too", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const released = yield* Deferred.make<void>()
      const connecting = yield* Effect.forkScoped(Effect.provideService(
        Client.make(Remote.connector(ScriptedServer.URL, { standalone: false }), {
          checkOutputs: false,
          versions: Version.legacy,
          features: slow(released)
        }),
        HttpClient.HttpClient,
        http.client
      ))
      yield* Effect.flatMap(http.expect("initialize"), (one) => one.result(ScriptedServer.initializeResult()))
      yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
      const client = yield* Fiber.join(connecting)
      const calling = yield* Effect.forkScoped(client.callTool("slow"))
      const call = yield* http.expect("tools/call")
      const stream = yield* call.events()
      yield* stream.send(Message.request("q", "elicitation/create", form))
      yield* http.quiet
      yield* TestClock.adjust("1 hour")
      assert.isNull(calling.unsafePoll())
      yield* Deferred.succeed(released, undefined)
      yield* Effect.flatMap(http.expect("an answer"), ({ accept }) => accept)
      yield* stream.send(Message.success(call.message.id, { content: [] }))
      assert.deepInclude(yield* Fiber.join(calling), { content: [] })
    }))
})

describe("The timeout of a method", () => {
  it.scoped("is that of `timeouts`, unless the call has its own", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({
        client: { timeout: "1 second", timeouts: { "tools/call": "5 seconds" } }
      })
      const millis = (call: Effect.Effect<unknown, unknown>, method: string) =>
        Effect.gen(function*() {
          const calling = yield* Effect.forkScoped(call)
          yield* server.expectRequest(method)
          yield* TestClock.adjust("1 minute")
          yield* server.expectNotification("notifications/cancelled")
          return (yield* failure(Fiber.join(calling)) as Effect.Effect<{ readonly millis: number }>).millis
        })
      assert.strictEqual(yield* millis(client.listTools(), "tools/list"), 1000)
      assert.strictEqual(yield* millis(client.callTool("t"), "tools/call"), 5000)
      assert.strictEqual(yield* millis(client.request("tools/call", { name: "t" }), "tools/call"), 5000)
      assert.strictEqual(yield* millis(client.callTool("t", {}, { timeout: "2 seconds" }), "tools/call"), 2000)
    }))
})

describe("A client that has the user open pages", () => {
  it.scoped("gets the notification of a page that an error demands, and MUST ignore one of an unknown page", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        client: { features: ClientFeatures.urlElicitation(() => Effect.succeed("accept")) }
      })
      const done = yield* Effect.fork(Stream.runHead(client.elicitationsCompleted))
      const calling = yield* Effect.fork(Effect.flip(client.callTool("a")))
      const { id } = yield* server.expectRequest("tools/call")
      const page = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "9" }
      yield* server.notify("notifications/elicitation/complete", { elicitationId: "9" })
      yield* server.notify("notifications/elicitation/complete", { elicitationId: "8" })
      yield* server.send(
        Message.failure(id, { code: -32042, message: "Sign in first", data: { elicitations: [page] } })
      )
      yield* server.notify("notifications/elicitation/complete", { elicitationId: "9" })
      assert.strictEqual((yield* Fiber.join(calling))._tag, "UrlElicitationRequired")
      assert.deepStrictEqual(yield* Effect.flatten(Fiber.join(done)), "9")
    }))
})
