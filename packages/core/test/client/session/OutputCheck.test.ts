import { assert, describe, it } from "@effect/vitest"
import { Diagnostic } from "@effect-mcp/core/Diagnostic"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Exit, Fiber, Option, Stream, TestClock } from "effect"
import { answered, exchange, failure, legacyClient } from "../Scripts.js"

const count = {
  name: "count",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
}
const given = (structuredContent: unknown, more: JsonObject = {}): JsonObject => ({
  content: [],
  ...(structuredContent === undefined ? undefined : { structuredContent }),
  ...more
})

const connected = (options: TestClient.Options<never, never> = {}) =>
  legacyClient({ client: { checkOutputs: true }, ...options })

/** Calls the tool; the server answers, and lists its tools if they are requested. */
const calling = (
  { client, server }: TestClient.TestClient,
  result: JsonObject,
  list?: JsonObject | "refused"
) =>
  Effect.gen(function*() {
    const call = yield* Effect.fork(client.callTool("count"))
    yield* answer(server, "tools/call", result)
    if (list !== undefined) yield* answer(server, "tools/list", list)
    return yield* Fiber.await(call)
  })

const answer = (server: TestPeer.TestPeer, method: string, result: JsonObject | "refused") =>
  Effect.flatMap(server.expectRequest(method), ({ id }) =>
    server.send(
      result === "refused"
        ? { jsonrpc: "2.0", id, error: { code: -32603, message: "no" } }
        : { jsonrpc: "2.0", id, result }
    ))

describe("Structured content", () => {
  it.scoped("is checked against the schema that the server lists, which is requested once", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      assert.strictEqual((yield* calling(t, given({ n: 1 }), { tools: [count] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: 2 })))._tag, "Success")
      const error = yield* failure(yield* calling(t, given({ n: 1.5 })))
      assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
      assert.include(error.message, "The result of the tool \"count\" does not match its output schema: n: ")
    }))

  it.scoped("comes without null in members that may be absent and not null, which is reported", () =>
    Effect.gen(function*() {
      const outputSchema = {
        type: "object",
        properties: {
          n: { type: "integer" },
          note: { type: "string" },
          unit: { type: ["string", "null"] },
          parts: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } }
        },
        required: ["n"]
      }
      const t = yield* connected()
      const reported = yield* Effect.fork(Stream.runHead(t.client.diagnostics))
      yield* Effect.yieldNow()
      const sent = { n: 1, note: null, unit: null, parts: [{ id: null }, { id: 7 }] }
      const text = { content: [{ type: "text", text: JSON.stringify(sent) }] }
      const exit = yield* calling(t, given(sent, text), { tools: [{ ...count, outputSchema }] })
      assert.deepStrictEqual<unknown>(
        exit,
        Exit.succeed({
          ...text,
          structuredContent: { n: 1, unit: null, parts: [{}, { id: 7 }] }
        })
      )
      assert.deepStrictEqual(
        yield* Fiber.join(reported),
        Option.some(Diagnostic.Mended({
          method: "tools/call",
          subject: "the result of the tool \"count\"",
          count: 2,
          places: [
            { path: "structuredContent.note", message: "is null, left out" },
            { path: "structuredContent.parts.0.id", message: "is null, left out" }
          ]
        }))
      )
      for (const wrong of [{ n: null }, { n: "1", note: null }, { note: null }]) {
        assert.strictEqual((yield* calling(t, given(wrong)))._tag, "Failure")
      }
    }))

  it.scoped("is not checked against tools that have changed while they were listed", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected()
      /** Answers a request for the tools as they were before a change that the client hears of first. */
      const answerLate = Effect.gen(function*() {
        const { id } = yield* server.expectRequest("tools/list")
        yield* server.notify("notifications/tools/list_changed")
        yield* server.send({ jsonrpc: "2.0", id, result: { tools: [count] } })
      })
      const call = yield* Effect.fork(client.callTool("count"))
      yield* answer(server, "tools/call", given({ n: "one" }))
      yield* answerLate
      assert.deepInclude(yield* Fiber.join(call), { structuredContent: { n: "one" } })
      for (const listing of [client.listTools(), Stream.runDrain(client.tools)]) {
        const listed = yield* Effect.fork(Effect.asVoid(listing))
        yield* answerLate
        yield* Fiber.join(listed)
      }
      const schema = { ...count.outputSchema, properties: { n: { type: "string" } } }
      const tools = { tools: [{ ...count, outputSchema: schema }] }
      assert.strictEqual((yield* calling({ client, server }, given({ n: "one" }), tools))._tag, "Success")
      assert.strictEqual((yield* calling({ client, server }, given({ n: 1 })))._tag, "Failure")
    }))

  it.scoped("is checked without another request when the tools were listed before", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      assert.strictEqual((yield* calling(t, given({ n: "1" })))._tag, "Failure")
      const more = yield* connected()
      yield* answered(more.server, Stream.runDrain(more.client.tools), "tools/list", { tools: [count] })
      assert.strictEqual((yield* calling(more, given({})))._tag, "Failure")
    }))

  it.scoped("is checked against the schema of the page that came last", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const other = { ...count, name: "other" }
      const page = (tool: object, nextCursor?: string): JsonObject => ({
        tools: [tool],
        ...(nextCursor === undefined ? undefined : { nextCursor })
      })
      yield* answered(t.server, t.client.listTools(), "tools/list", page(count, "next"))
      yield* answered(t.server, t.client.listTools({ cursor: "next" }), "tools/list", page(other))
      assert.strictEqual((yield* calling(t, given({})))._tag, "Failure")
      assert.strictEqual((yield* calling(t, given({ n: 1 })))._tag, "Success")
    }))

  it.scoped("that the schema requires and the result does not have fails the call", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      assert.include((yield* failure(yield* calling(t, given(undefined)))).message, "it has no structured content")
    }))

  it.scoped("of a failed tool is not checked", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      assert.strictEqual((yield* calling(t, given({ why: "no" }, { isError: true })))._tag, "Success")
    }))

  it.scoped("that the schema requires fails the call when it is absent, although the tool was not listed before", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const error = yield* failure(yield* calling(t, given(undefined), { tools: [count] }))
      assert.include(error.message, "it has no structured content")
    }))

  it.scoped("needs one list, also for calls that end at the same time", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const calls = yield* Effect.fork(Effect.all([1, 2, 3].map(() => t.client.callTool("count")), { concurrency: 3 }))
      for (const _ of [1, 2, 3]) yield* answer(t.server, "tools/call", given({ n: 1 }))
      yield* answer(t.server, "tools/list", { tools: [count] })
      assert.lengthOf(yield* Fiber.join(calls), 3)
    }))

  it.scoped("is not checked, and nothing is listed, in a revision without output schemas", () =>
    Effect.gen(function*() {
      const t = yield* connected({ version: "2025-03-26" })
      assert.strictEqual((yield* calling(t, given(undefined)))._tag, "Success")
    }))

  it.scoped("of a tool without a schema is not checked", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const plain = { name: "count", inputSchema: { type: "object" } }
      assert.strictEqual((yield* calling(t, given({ n: "any" }), { tools: [plain] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: "any" })))._tag, "Success")
    }))

  /** Why results were accepted unchecked. */
  const reasons = (client: TestClient.TestClient["client"]) =>
    Effect.gen(function*() {
      const reported: Array<string> = []
      yield* Effect.forkScoped(Stream.runForEach(client.diagnostics, (diagnostic) =>
        Effect.sync(() => {
          if (diagnostic._tag === "Unchecked") reported.push(`${diagnostic.subject}: ${diagnostic.reason}`)
        })))
      yield* Effect.yieldNow()
      return reported
    })

  for (
    const [list, why] of [
      ["refused", "the tools could not be listed: no"],
      [{ tools: "none" }, "the tools could not be listed: The result of \"tools/list\""],
      [{ tools: [] }, "the server does not list the tool"]
    ] as const
  ) {
    it.scoped(`is accepted, and the reason is reported, when there is no schema: ${JSON.stringify(list)}`, () =>
      Effect.gen(function*() {
        const t = yield* connected({ oracle: false })
        const reported = yield* reasons(t.client)
        assert.strictEqual((yield* calling(t, given({ n: "any" }), list))._tag, "Success")
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        assert.lengthOf(reported, 1)
        assert.include(reported[0], `The result of the tool "count": ${why}`)
      }))
  }

  it.scoped("ends the list where it has the tool", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      assert.strictEqual((yield* calling(t, given({ n: 1 }), { tools: [count], nextCursor: "more" }))._tag, "Success")
      yield* t.server.expectSilence
      assert.strictEqual((yield* calling(t, given({})))._tag, "Failure")
    }))

  it.scoped("has the tools listed once a minute while the list has failed, or a while after they have changed", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected({ oracle: false })
      const call = (times: number) =>
        Effect.gen(function*() {
          for (let i = 0; i < times; i++) {
            const calling = yield* Effect.fork(client.callTool("count"))
            yield* answer(server, "tools/call", given({ n: "any" }))
            if (i === 0) {
              for (let page = 1; page <= 64; page++) {
                yield* answer(server, "tools/list", { tools: [], nextCursor: `${page}` })
              }
            }
            yield* Fiber.join(calling)
          }
          yield* server.expectSilence
        })
      yield* call(20)
      yield* TestClock.adjust("1 minute")
      yield* call(20)
      yield* server.notify("notifications/tools/list_changed")
      yield* TestClock.adjust("2 seconds")
      yield* call(20)
    }))

  it.scoped("waits for the list no longer than the call may take, and accepts the result then", () =>
    Effect.gen(function*() {
      for (const options of [{ timeout: "2 seconds" }, { maxTotalTimeout: "2 seconds" }] as const) {
        const { client, server } = yield* connected()
        const reported = yield* reasons(client)
        const call = yield* Effect.fork(client.callTool("count", {}, options))
        const { id } = yield* server.expectRequest("tools/call")
        yield* TestClock.adjust("500 millis")
        yield* server.send({ jsonrpc: "2.0", id, result: given({ n: "any" }) })
        for (let page = 1; page <= 3; page++) {
          yield* answer(server, "tools/list", { tools: [], nextCursor: `${page}` })
          yield* TestClock.adjust("499 millis")
        }
        assert.isNull(call.unsafePoll())
        yield* server.expectRequest("tools/list")
        yield* TestClock.adjust("3 millis")
        assert.deepInclude(yield* Fiber.join(call), { structuredContent: { n: "any" } })
        yield* server.expectNotification("notifications/cancelled")
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        assert.include(reported[0], "the time of the call was over before the tools were listed")
        // The next call does not wait again.
        assert.strictEqual((yield* calling({ client, server }, given({ n: "any" })))._tag, "Success")
      }
    }))

  it.scoped("is checked although an earlier call had no time to wait for the list of another one", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const { client, server } = t
      const patient = yield* Effect.fork(client.callTool("count"))
      yield* answer(server, "tools/call", given({ n: "any" }))
      yield* server.expectRequest("tools/list")
      const hasty = yield* Effect.fork(client.callTool("count", {}, { timeout: "1 second" }))
      yield* answer(server, "tools/call", given({ n: "any" }))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.await(hasty))._tag, "Success")
      yield* Fiber.interrupt(patient)
      yield* server.expectNotification("notifications/cancelled")
      assert.strictEqual((yield* calling(t, given({ n: "any" }), { tools: [count] }))._tag, "Failure")
    }))

  it.scoped("has a whole timeout for the list after a call that progress has made longer", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected()
      const call = yield* Effect.fork(
        client.callTool("count", {}, { timeout: "2 seconds", resetTimeoutOnProgress: true })
      )
      const { id } = yield* server.expectRequest("tools/call")
      for (let progress = 1; progress <= 3; progress++) {
        yield* TestClock.adjust("1 second")
        yield* server.notify("notifications/progress", { progressToken: id, progress })
        yield* server.expectSilence
      }
      yield* server.send({ jsonrpc: "2.0", id, result: given({ n: "any" }) })
      yield* Effect.flatMap(server.expectRequest("tools/list"), ({ id }) =>
        Effect.zipRight(
          TestClock.adjust("1 second"),
          server.send({ jsonrpc: "2.0", id, result: { tools: [count] } })
        ))
      assert.strictEqual((yield* Fiber.await(call))._tag, "Failure")
    }))

  const large = { items: { anyOf: Array.from({ length: 1000 }, (_, i) => ({ const: `${i}` })) } }
  for (
    const [outputSchema, why] of [
      [{ type: "object", properties: { n: { pattern: "(?=a)b" } } }, "has the regular expression"],
      [{ type: "object", $ref: "https://example.com/schema.json" }, "cannot be used: \"$ref\" leads to no part of it"],
      [{ type: "object", properties: { n: { type: "nonsense" } } }, "is not a valid JSON Schema"],
      [{ type: "object", $schema: "https://example.com/dialect" }, "has the dialect \"https://example.com/dialect\""],
      [{ type: "object", properties: { n: large } }, "cannot be checked: it is too much work"]
    ] as const
  ) {
    it.scoped(`is accepted, and the reason is reported once, with a schema that cannot be used: ${why}`, () =>
      Effect.gen(function*() {
        const t = yield* connected({ oracle: false })
        const reported = yield* reasons(t.client)
        yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [{ ...count, outputSchema }] })
        const content = given({ n: Array.from({ length: 100_000 }, (_, i) => i) })
        for (const _ of [1, 2]) assert.strictEqual((yield* calling(t, content))._tag, "Success")
        yield* Effect.repeatN(Effect.yieldNow(), 20)
        assert.lengthOf(reported, 1)
        assert.include(reported[0], `The result of the tool "count": its output schema ${why}`)
      }))
  }

  it.scoped("is checked against patterns in linear time", () =>
    Effect.gen(function*() {
      const t = yield* connected()
      const outputSchema = { type: "object", properties: { n: { pattern: "^(a+)+$" } } }
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [{ ...count, outputSchema }] })
      assert.strictEqual((yield* calling(t, given({ n: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" })))._tag, "Failure")
      assert.strictEqual((yield* calling(t, given({ n: "aaaa" })))._tag, "Success")
    }))

  it.scoped("is checked against the new schema after the tools have changed", () =>
    Effect.gen(function*() {
      const t = yield* connected({ capabilities: { tools: { listChanged: true } } })
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      const text = { ...count, outputSchema: { type: "object", properties: { n: { type: "string" } } } }
      yield* t.server.notify("notifications/tools/list_changed")
      assert.strictEqual((yield* calling(t, given({ n: "one" }), { tools: [text] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: 1 })))._tag, "Failure")
    }))

  it.scoped("is not checked when an option of the client, or of the call, says so", () =>
    Effect.gen(function*() {
      const careless = yield* legacyClient({ client: { checkOutputs: false } })
      assert.strictEqual((yield* calling(careless, given({ n: "any" })))._tag, "Success")
      const t = yield* connected()
      const call = t.client.callTool("count", {}, { checkOutput: false })
      assert.strictEqual((yield* exchange(t.server, call, "tools/call", given({ n: "any" }))).exit._tag, "Success")
    }))
})
