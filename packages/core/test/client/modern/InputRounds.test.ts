import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Either, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { beside, complete, connect, requireInput } from "./ModernServer.js"

const form = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Sure?",
    requestedSchema: { type: "object", properties: { sure: { type: "boolean", default: true } } }
  }
}
const sample = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 10 }
}
const message = { role: "assistant", content: { type: "text", text: "hello" }, model: "m" } as const

const accepts = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" }))
const tools = { tools: {} }

describe("A call that needs input", () => {
  it.scoped("is sent again under another id, with the responses and the state as it came", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools, { features: accepts })
      const calling = yield* beside(client.callTool("t", { a: 1 }, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      assert.notProperty(first.params, "requestState")
      yield* requireInput(server, first.id, { inputRequests: { q: form }, requestState: " ä\u0000=?base64?= " })
      const second = yield* server.expectRequest("tools/call")
      assert.notStrictEqual(second.id, first.id)
      assert.deepInclude(second.params, {
        name: "t",
        arguments: { a: 1 },
        requestState: " ä\u0000=?base64?= ",
        inputResponses: { q: { action: "accept", content: { sure: true } } }
      })
      yield* complete(server, second.id, { content: [] })
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [] })
    }))

  it.scoped("has one maximum for all rounds, the answers of the user included", () =>
    Effect.gen(function*() {
      const slow = ClientFeatures.elicitation(() =>
        Effect.delay(Effect.succeed({ action: "accept" as const }), "1 second")
      )
      const { client, server } = yield* connect(tools, { features: slow })
      const options = { checkOutput: false, maxTotalTimeout: "5 seconds" } as const
      const calling = yield* beside(Effect.flip(client.callTool("t", {}, options)))
      for (const _ of [1, 2]) {
        const { id } = yield* server.expectRequest("tools/call")
        yield* TestClock.adjust("1 second")
        yield* requireInput(server, id, { inputRequests: { q: form } })
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* TestClock.adjust("1 second")
      }
      yield* server.expectRequest("tools/call")
      yield* TestClock.adjust("1001 millis")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout", method: "tools/call", millis: 5000 })
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("MUST NOT carry a state where the last result had none", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools, { features: accepts })
      const calling = yield* beside(client.callTool("t", {}, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      yield* requireInput(server, first.id, { inputRequests: { q: form }, requestState: "1" })
      const second = yield* server.expectRequest("tools/call")
      yield* requireInput(server, second.id, { inputRequests: { r: form } })
      const third = yield* server.expectRequest("tools/call")
      assert.notProperty(third.params, "requestState")
      assert.deepStrictEqual(Object.keys(third.params?.inputResponses as object), ["r"])
      yield* complete(server, third.id, { content: [] })
      yield* Fiber.join(calling)
    }))

  it.scoped("counts what the server sends as null as absent", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools, { features: accepts })
      const calling = yield* beside(client.callTool("t", {}, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      yield* requireInput(server, first.id, { inputRequests: { q: form }, requestState: null })
      const second = yield* server.expectRequest("tools/call")
      assert.notProperty(second.params, "requestState")
      yield* requireInput(server, second.id, { inputRequests: null, requestState: "s" })
      const third = yield* server.expectRequest("tools/call")
      assert.notProperty(third.params, "inputResponses")
      yield* complete(server, third.id, { content: [] })
      yield* Fiber.join(calling)
    }))

  it.scoped("is sent again at once where the server gives only a state", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools)
      const calling = yield* beside(client.callTool("t", {}, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      yield* requireInput(server, first.id, { requestState: "s" })
      const second = yield* server.expectRequest("tools/call")
      assert.notProperty(second.params, "inputResponses")
      yield* complete(server, second.id, { content: [] })
      yield* Fiber.join(calling)
    }))

  for (const requestState of [{ step: 1, path: ["a"] }, 7, [1], false]) {
    it.scoped(`returns the state as it came, where that is not a text but ${JSON.stringify(requestState)}`, () =>
      Effect.gen(function*() {
        // The schema of the specification does not allow such a state to be sent.
        const [server, connector] = yield* TestPeer.server({ oracle: false })
        const prior = {
          version: "2026-07-28",
          serverInfo: { name: "odd", version: "1" },
          serverCapabilities: tools,
          instructions: undefined
        } as const
        const client = yield* Client.make(connector, { prior, checkOutputs: false })
        const calling = yield* beside(client.callTool("t"))
        const first = yield* server.expectRequest("tools/call")
        yield* requireInput(server, first.id, { requestState })
        const second = yield* server.expectRequest("tools/call")
        assert.deepStrictEqual(second.params!.requestState, requestState)
        yield* complete(server, second.id, { content: [] })
        yield* Fiber.join(calling)
      }))
  }

  it.scoped("is answered by all features of a round at the same time", () =>
    Effect.gen(function*() {
      const both = yield* Deferred.make<void>()
      let running = 0
      const meet = Effect.suspend(() => ++running === 2 ? Deferred.succeed(both, undefined) : Deferred.await(both))
      const { client, server } = yield* connect(tools, {
        features: Layer.mergeAll(
          ClientFeatures.elicitation(() => Effect.as(meet, { action: "decline" } as const)),
          ClientFeatures.sampling(() => Effect.as(meet, message))
        )
      })
      const calling = yield* beside(client.callTool("t", {}, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      yield* requireInput(server, first.id, { inputRequests: { f: form, s: sample } })
      const second = yield* server.expectRequest("tools/call")
      assert.deepStrictEqual(second.params?.inputResponses, { f: { action: "decline" }, s: message })
      yield* complete(server, second.id, { content: [] })
      yield* Fiber.join(calling)
    }))

  it.scoped("is answered by no more features at the same time than `maxInFlight`", () =>
    Effect.gen(function*() {
      const seen = { now: 0, most: 0 }
      const answer = Effect.acquireUseRelease(
        Effect.sync(() => seen.most = Math.max(seen.most, ++seen.now)),
        () => Effect.as(Effect.yieldNow(), { action: "cancel" } as const),
        () => Effect.sync(() => seen.now--)
      )
      const { client, server } = yield* connect(tools, {
        limits: { maxInFlight: 3 },
        features: ClientFeatures.elicitation(() => answer)
      })
      const calling = yield* beside(client.callTool("t", {}, { checkOutput: false }))
      const first = yield* server.expectRequest("tools/call")
      const inputRequests = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`q${i}`, form]))
      yield* requireInput(server, first.id, { inputRequests })
      const second = yield* server.expectRequest("tools/call")
      assert.lengthOf(Object.keys(second.params?.inputResponses as object), 20)
      assert.strictEqual(seen.most, 3)
      yield* complete(server, second.id, { content: [] })
      yield* Fiber.join(calling)
    }))

  it.scoped("fails, and does not die, when the answer of a feature does not fit or its handler dies", () =>
    Effect.gen(function*() {
      const broken = [
        ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { sure: "yes" } })),
        ClientFeatures.elicitation(() => Effect.dieMessage("a bug")),
        ClientFeatures.sampling(() => Effect.succeed({ role: "assistant" } as never))
      ]
      for (const features of broken) {
        const { client, server } = yield* connect(tools, { features })
        const reported = yield* beside(Stream.runHead(client.diagnostics))
        const calling = yield* beside(Effect.flip(client.callTool("t")))
        const { id } = yield* server.expectRequest("tools/call")
        yield* requireInput(server, id, { inputRequests: { q: features === broken[2] ? sample : form } })
        const error = yield* Fiber.join(calling)
        assert.deepInclude(error, { _tag: "InputRefused", method: "tools/call" })
        assert.include(error.message, "its handler died")
        assert.strictEqual(Option.getOrThrow(yield* Fiber.join(reported))._tag, "HandlerDied")
      }
    }))

  it.scoped("fails and is not sent again when a feature refuses to sample", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools, {
        features: ClientFeatures.sampling(() => Effect.fail(new McpError.PeerError({ code: -1, message: "No" })))
      })
      const calling = yield* beside(Effect.flip(client.callTool("t")))
      const { id } = yield* server.expectRequest("tools/call")
      yield* requireInput(server, id, { inputRequests: { s: sample } })
      const error = yield* Fiber.join(calling)
      assert.deepInclude(error, { _tag: "InputRefused", method: "tools/call", input: "sampling/createMessage" })
      assert.strictEqual(
        error.message,
        "\"tools/call\" needs input that the client refused (\"sampling/createMessage\"): No"
      )
    }))

  it.scoped("fails when the client has no feature for an input request", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools)
      const calling = yield* beside(Effect.flip(client.callTool("t")))
      const { id } = yield* server.expectRequest("tools/call")
      yield* requireInput(server, id, { inputRequests: { f: form } })
      assert.strictEqual((yield* Fiber.join(calling))._tag, "InputRefused")
    }))

  for (
    const [rounds, options] of [[10, {}], [2, { limits: { maxRounds: 2 } }], [0, { limits: { maxRounds: 0 } }]] as const
  ) {
    it.scoped(`has ${rounds} rounds ${rounds === 10 ? "by default" : "by option"}, and fails after them`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connect(tools, options)
        for (const last of ["complete", "input_required"]) {
          const calling = yield* beside(Effect.either(client.callTool("t", {}, { checkOutput: false })))
          for (let round = 1; round <= rounds; round++) {
            const { id } = yield* server.expectRequest("tools/call")
            yield* requireInput(server, id, { requestState: `${round}` })
          }
          const { id } = yield* server.expectRequest("tools/call")
          if (last === "complete") yield* complete(server, id, { content: [] })
          else yield* requireInput(server, id, { requestState: "more" })
          const outcome = yield* Fiber.join(calling)
          if (last === "complete") assert.deepStrictEqual(outcome, Either.right({ content: [] }))
          else assert.deepInclude(Either.getOrThrow(Either.flip(outcome)), { _tag: "TooManyRounds", rounds })
        }
      }))
  }

  for (
    const [what, result] of [
      ["has neither requests nor a state", { resultType: "input_required" }],
      ["has a type that the client does not know", { resultType: "later" }],
      ["has a type that cannot become a text", { resultType: { toString: 1, valueOf: 1 } }],
      ["has an input request of an unknown method", {
        resultType: "input_required",
        inputRequests: { q: { method: "ping", params: {} } }
      }],
      ["asks more than 1000 questions", {
        resultType: "input_required",
        inputRequests: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`q${n}`, form]))
      }]
    ] as const
  ) {
    it.scoped(`fails when the result ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connect(tools)
        const calling = yield* beside(Effect.flip(client.callTool("t")))
        const { id } = yield* server.expectRequest("tools/call")
        yield* server.send({ jsonrpc: "2.0", id, result })
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Decode" })
      }))
  }

  it.scoped("MUST NOT be answered for a method that may not require input", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(tools, { features: accepts })
      const listing = yield* beside(Effect.flip(client.listTools()))
      const { id } = yield* server.expectRequest("tools/list")
      yield* requireInput(server, id, { inputRequests: { q: form } })
      assert.deepInclude(yield* Fiber.join(listing), { _tag: "TransportError", reason: "Decode" })
    }))
})
