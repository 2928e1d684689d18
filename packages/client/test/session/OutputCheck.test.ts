import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as TestClient from "@effect-mcp/testing/TestClient"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, Stream } from "effect"
import { answered, exchange, failure } from "../Scripts.js"

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
      const t = yield* TestClient.make()
      assert.strictEqual((yield* calling(t, given({ n: 1 }), { tools: [count] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: 2 })))._tag, "Success")
      const error = yield* failure(yield* calling(t, given({ n: 1.5 })))
      assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
      assert.include(error.message, "The result of the tool \"count\" does not match its output schema: n: ")
    }))

  it.scoped("is checked without another request when the tools were listed before", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make()
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      assert.strictEqual((yield* calling(t, given({ n: "1" })))._tag, "Failure")
      const more = yield* TestClient.make()
      yield* answered(more.server, Stream.runDrain(more.client.tools), "tools/list", { tools: [count] })
      assert.strictEqual((yield* calling(more, given({})))._tag, "Failure")
    }))

  it.scoped("is checked against the schema of the page that came last", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make()
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
      const t = yield* TestClient.make()
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      assert.include((yield* failure(yield* calling(t, given(undefined)))).message, "it has no structured content")
    }))

  it.scoped("of a failed tool is not checked", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make()
      assert.strictEqual((yield* calling(t, given({ why: "no" }, { isError: true })))._tag, "Success")
    }))

  it.scoped("when it is absent, and the tool is not known, causes no request", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make()
      assert.strictEqual((yield* calling(t, given(undefined)))._tag, "Success")
    }))

  it.scoped("of a tool without a schema is not checked", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make()
      const plain = { name: "count", inputSchema: { type: "object" } }
      assert.strictEqual((yield* calling(t, given({ n: "any" }), { tools: [plain] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: "any" })))._tag, "Success")
    }))

  for (const list of ["refused", { tools: "none" }, { tools: [] }] as const) {
    it.scoped(`is not lost when the list cannot be read: ${JSON.stringify(list)}`, () =>
      Effect.gen(function*() {
        const t = yield* TestClient.make({ oracle: false })
        assert.strictEqual((yield* calling(t, given({ n: "any" }), list))._tag, "Success")
      }))
  }

  for (
    const outputSchema of [
      { type: "object", properties: { n: { pattern: "(a+)+$" } } },
      { type: "object", $ref: "https://example.com/schema.json" },
      { type: "object", properties: { n: { type: "nonsense" } } }
    ]
  ) {
    it.scoped(`is not checked against a schema that cannot be used safely: ${JSON.stringify(outputSchema)}`, () =>
      Effect.gen(function*() {
        const t = yield* TestClient.make({ oracle: false })
        yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [{ ...count, outputSchema }] })
        assert.strictEqual((yield* calling(t, given({ n: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" })))._tag, "Success")
      }))
  }

  it.scoped("is checked against the new schema after the tools have changed", () =>
    Effect.gen(function*() {
      const t = yield* TestClient.make({ capabilities: { tools: { listChanged: true } } })
      yield* answered(t.server, t.client.listTools(), "tools/list", { tools: [count] })
      const text = { ...count, outputSchema: { type: "object", properties: { n: { type: "string" } } } }
      yield* t.server.notify("notifications/tools/list_changed")
      assert.strictEqual((yield* calling(t, given({ n: "one" }), { tools: [text] }))._tag, "Success")
      assert.strictEqual((yield* calling(t, given({ n: 1 })))._tag, "Failure")
    }))

  it.scoped("is not checked when an option of the client, or of the call, says so", () =>
    Effect.gen(function*() {
      const careless = yield* TestClient.make({ client: { checkOutputs: false } })
      assert.strictEqual((yield* calling(careless, given({ n: "any" })))._tag, "Success")
      const t = yield* TestClient.make()
      const call = t.client.callTool("count", {}, { checkOutput: false })
      assert.strictEqual((yield* exchange(t.server, call, "tools/call", given({ n: "any" }))).exit._tag, "Success")
    }))
})
