import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Effect, Either, Fiber, TestClock } from "effect"
import type { Exchange } from "../http/ScriptedServer.js"
import { cacheable, calling, complete, connect, cut, tools } from "./ModernHttp.js"

const lost = "The answer to \"tools/call\" was lost, and the server may have run the request: "

const wait = TestClock.adjust("1 minute")

describe("A call whose answer was lost", () => {
  for (
    const [what, lose] of [
      ["the stream broke", cut],
      ["the stream ended", (one: Exchange) => Effect.flatMap(one.events(), ({ end }) => end)],
      ["the body was cut off", (one: Exchange) =>
        Effect.flatMap(
          one.open(200, { "content-type": "application/json" }),
          ({ cut, push }) => Effect.zipRight(push("{\"jsonrpc\""), cut)
        )],
      ["there was no body", (one: Exchange) => one.accept],
      ["a gateway answered", (one: Exchange) => one.reply(502, { "content-type": "text/html" }, "<h1>Bad</h1>")],
      ["the connection was reset", (one: Exchange) => one.fail("ECONNRESET")]
    ] as const
  ) {
    it.scoped(`because ${what} fails, says that the server may have run it, and is not sent again`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect()
        const call = yield* calling(client.callTool("read"))
        yield* Effect.flatMap(http.expect("tools/call"), lose)
        yield* wait
        const error = Either.getOrThrow(Either.flip(yield* Fiber.join(call)))
        assert.deepInclude(error, { _tag: "TransportError", reason: "Read" })
        assert.strictEqual(error.message.slice(0, lost.length), lost)
        yield* http.quiet
      }))

    it.scoped(`because ${what} MUST be sent again as a new request where the caller allows it`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect()
        const call = yield* calling(client.callTool("read", { a: 1 }, { maxRetries: 1 }))
        const first = yield* http.expect("tools/call")
        yield* lose(first)
        yield* wait
        yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, { read: { readOnlyHint: true } }))
        const second = yield* http.expect("tools/call")
        assert.notStrictEqual(second.message.id, first.message.id)
        assert.deepStrictEqual(second.message.params, first.message.params)
        yield* complete(second, { content: [] })
        assert.deepStrictEqual(yield* Fiber.join(call), Either.right({ content: [] }))
        yield* http.idle
      }))
  }

  for (
    const [annotations, isSent] of [
      [{ readOnlyHint: true }, true],
      [{ idempotentHint: true }, true],
      [{ idempotentHint: true, destructiveHint: true }, true],
      [{}, false],
      [{ readOnlyHint: false, idempotentHint: false }, false],
      [{ destructiveHint: false, openWorldHint: false }, false],
      [{ readOnlyHint: "true" }, false]
    ] as const
  ) {
    it.scoped(`is ${isSent ? "" : "not "}sent again for a tool with ${JSON.stringify(annotations)}`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect({ maxRetries: 2 })
        const call = yield* calling(client.callTool("t"))
        yield* Effect.flatMap(http.expect("tools/call"), cut)
        yield* wait
        yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, { t: annotations }))
        if (isSent) yield* Effect.flatMap(http.expect("tools/call"), (again) => complete(again, { content: [] }))
        yield* wait
        yield* http.quiet
        assert.strictEqual(Either.isRight(yield* Fiber.join(call)), isSent)
      }))
  }

  it.scoped("is not sent again for a tool that the server does not list, on any page", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ maxRetries: 2 })
      const call = yield* calling(client.callTool("t"))
      yield* Effect.flatMap(http.expect("tools/call"), cut)
      yield* wait
      const other = { other: { readOnlyHint: true } }
      yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, other, { nextCursor: "" }))
      const second = yield* http.expect("tools/list")
      assert.strictEqual(second.message.params.cursor, "")
      yield* tools(second, {})
      yield* wait
      assert.include(String(Either.flip(yield* Fiber.join(call))), "may have run")
      yield* http.quiet
    }))

  it.scoped("is sent again as the newest list of tools says, not as an older one said", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ maxRetries: 2 })
      const listing = yield* calling(client.listTools())
      yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, { t: { readOnlyHint: true } }))
      yield* Fiber.join(listing)
      const call = yield* calling(client.callTool("t"))
      yield* Effect.flatMap(http.expect("tools/call"), cut)
      yield* wait
      yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, { t: {} }))
      yield* wait
      assert.isTrue(Either.isLeft(yield* Fiber.join(call)))
      yield* http.quiet
    }))

  it.scoped("is sent again at most `maxRetries` times, more and more slowly, and fails with the first loss", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.readResource("file:///a", { maxRetries: 3 }))
      yield* Effect.flatMap(http.expect("resources/read"), (one) => one.fail("ECONNRESET"))
      // A server that starts again is not there for a moment. That does not mean that it has not run the first request.
      for (const fault of ["ECONNREFUSED", "ECONNRESET", "ECONNREFUSED"]) {
        yield* http.quiet
        yield* wait
        yield* Effect.flatMap(http.expect("resources/read"), (one) => one.fail(fault))
      }
      yield* wait
      const error = Either.getOrThrow(Either.flip(yield* Fiber.join(call)))
      assert.include(
        error.message,
        "The answer to \"resources/read\" was lost, and the server may have run the request"
      )
      assert.include(error.message, "ECONNRESET")
      yield* http.quiet
    }))

  it.scoped("is sent again although the first list of tools is lost, too", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.callTool("t", {}, { maxRetries: 2 }))
      yield* Effect.flatMap(http.expect("tools/call"), cut)
      yield* wait
      yield* Effect.flatMap(http.expect("tools/list"), (list) => list.fail("ECONNREFUSED"))
      yield* wait
      yield* Effect.flatMap(http.expect("tools/list"), (list) => tools(list, { t: { idempotentHint: true } }))
      yield* Effect.flatMap(http.expect("tools/call"), (again) => complete(again, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(call), Either.right({ content: [] }))
    }))

  it.scoped("is sent again without a look at the tools when it only reads", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ maxRetries: 1 })
      const completion = client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })
      for (
        const [method, reading, result] of [
          ["tools/list", client.listTools(), { tools: [] }],
          ["resources/list", client.listResources(), { resources: [] }],
          ["resources/templates/list", client.listResourceTemplates(), { resourceTemplates: [] }],
          ["resources/read", client.readResource("file:///a"), { contents: [] }],
          ["prompts/list", client.listPrompts(), { prompts: [] }],
          ["prompts/get", client.getPrompt("p"), { messages: [] }],
          ["completion/complete", completion, { completion: { values: [] } }]
        ] as const
      ) {
        const call = yield* calling<unknown>(reading)
        const first = yield* http.expect(method)
        yield* cut(first)
        yield* wait
        const second = yield* http.expect(method)
        assert.notStrictEqual(second.message.id, first.message.id)
        yield* cacheable(second, result)
        assert.isTrue(Either.isRight(yield* Fiber.join(call)), method)
      }
    }))

  it.scoped("has the option of the call before that of the client", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ maxRetries: 1 })
      const call = yield* calling(client.readResource("file:///a", { maxRetries: 0 }))
      yield* Effect.flatMap(http.expect("resources/read"), cut)
      yield* wait
      assert.isTrue(Either.isLeft(yield* Fiber.join(call)))
      yield* http.quiet
    }))

  for (
    const [what, answer] of [
      [
        "an error",
        (one: Exchange) => one.json({ jsonrpc: "2.0", id: one.message.id, error: { code: -32603, message: "No" } })
      ],
      ["a refusal", (one: Exchange) => one.reply(404)],
      ["what cannot be read", (one: Exchange) => one.json("?")],
      ["a connection that was refused", (one: Exchange) => one.fail("ECONNREFUSED")]
    ] as const
  ) {
    it.scoped(`is one that had no answer: ${what} is not followed by another attempt`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect({ maxRetries: 5 })
        const call = yield* calling(client.readResource("file:///a"))
        yield* Effect.flatMap(http.expect("resources/read"), answer)
        yield* wait
        assert.notInclude(String(Either.flip(yield* Fiber.join(call))), "lost")
        yield* http.quiet
      }))
  }

  it.scoped("is not sent again when its caller is interrupted meanwhile", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ maxRetries: 5 })
      const call = yield* calling(client.readResource("file:///a"))
      yield* Effect.flatMap(http.expect("resources/read"), cut)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(call)
      yield* wait
      yield* http.quiet
    }))

  it.scoped("is sent again with the answers and the state of its round: no input is requested twice", () =>
    Effect.gen(function*() {
      let questions = 0
      const { client, http } = yield* connect({
        features: ClientFeatures.elicitation(() =>
          Effect.sync(() => {
            questions++
            return { action: "accept", content: {} } as const
          })
        )
      })
      const call = yield* calling(client.getPrompt("p", {}, { maxRetries: 1 }))
      const form = { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } }
      yield* Effect.flatMap(http.expect("prompts/get"), (one) =>
        one.result({
          resultType: "input_required",
          inputRequests: { q: { method: "elicitation/create", params: form } },
          requestState: "s"
        }))
      const second = yield* http.expect("prompts/get")
      assert.strictEqual(second.message.params.requestState, "s")
      yield* cut(second)
      yield* wait
      const third = yield* http.expect("prompts/get")
      assert.deepStrictEqual(third.message.params, second.message.params)
      yield* complete(third, { messages: [] })
      assert.isTrue(Either.isRight(yield* Fiber.join(call)))
      assert.strictEqual(questions, 1)
    }))
})
