import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { ToolError } from "@effect-mcp/core/ClientError"
import * as Definition from "@effect-mcp/core/Definition"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Fiber, Schema } from "effect"
import { answered, exchange, legacyClient, refused } from "./Scripts.js"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}
class Busy extends Schema.TaggedError<Busy>()("Busy", { until: Schema.Date }) {}

const Search = Tool.make("search", {
  parameters: {
    q: Schema.NonEmptyString,
    limit: Schema.optionalWith(Schema.Int, { default: () => 10 }),
    since: Schema.optional(Schema.Date)
  },
  success: Schema.Struct({ hits: Schema.Array(Schema.String), at: Schema.Date }),
  failure: Schema.Union(NotFound, Busy)
})
const Tell = Tool.make("tell", { parameters: { what: Schema.String } })
const Count = Tool.make("count", { success: Schema.NumberFromString })
const Strict = Tool.make("strict", { success: Schema.Struct({ n: Schema.Int }) })
const Blunt = Tool.make("blunt", { failure: Schema.String })
const Odd = Tool.make("odd.name/with-signs")
const All = Definition.make(Search, Tell, Count, Strict, Blunt, Odd)

const typed = Effect.map(legacyClient(), ({ client, server }) => ({ server, tools: Client.of(client, All) }))

const found = { content: [], structuredContent: { hits: ["a"], at: "2026-01-02T03:04:05.000Z" } }
const inWords = (value: unknown, rest: JsonObject = {}): JsonObject => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  ...rest
})

describe("A tool as a function", () => {
  it.scoped("has the name that the definition gives it", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      assert.deepStrictEqual(Object.keys(tools), ["search", "tell", "count", "strict", "blunt", "odd.name/with-signs"])
      const { params } = yield* answered(server, tools["odd.name/with-signs"](), "tools/call", { content: [] })
      assert.deepStrictEqual(params, { name: "odd.name/with-signs", arguments: {} })
    }))

  it.scoped("has no other names than its tools", () =>
    Effect.gen(function*() {
      const { client } = yield* legacyClient()
      const Proto = Tool.make("__proto__")
      const tools = Client.of(client, Definition.make(Proto))
      assert.deepStrictEqual(Object.keys(tools), ["__proto__"])
      assert.strictEqual(Object.getPrototypeOf(tools), Object.prototype)
    }))

  it.scoped("sends its arguments encoded, without those left out that have a default", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const sparse = yield* answered(server, tools.search({ q: "x" }), "tools/call", found)
      assert.deepStrictEqual(sparse.params, { name: "search", arguments: { q: "x", limit: 10 } })
      const full = yield* answered(
        server,
        tools.search({ q: "x", limit: 2, since: new Date(0) }),
        "tools/call",
        found
      )
      assert.deepStrictEqual(full.params, {
        name: "search",
        arguments: { q: "x", limit: 2, since: "1970-01-01T00:00:00.000Z" }
      })
    }))

  it.scoped("takes the options of any call", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const seen: Array<number> = []
      const calling = yield* Effect.fork(tools.tell({ what: "it" }, {
        meta: { a: 1 },
        onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
      }))
      const { id, params } = yield* server.expectRequest("tools/call")
      assert.deepStrictEqual(params?._meta, { a: 1, progressToken: id })
      yield* server.notify("notifications/progress", { progressToken: id, progress: 1 })
      yield* server.send({ jsonrpc: "2.0", id, result: { content: [] } })
      yield* Fiber.join(calling)
      assert.deepStrictEqual(seen, [1])
      assert.strictEqual((yield* Effect.flip(tools.tell({ what: "it" }, { timeout: 0 })))._tag, "RequestTimeout")
    }))

  it.scoped("succeeds with its decoded success, from structured content or from its text", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const expected = { hits: ["a"], at: new Date("2026-01-02T03:04:05.000Z") }
      const structured = yield* answered(server, tools.search({ q: "x" }), "tools/call", found)
      assert.deepStrictEqual(structured.value, expected)
      const text = yield* answered(server, tools.search({ q: "x" }), "tools/call", inWords(found.structuredContent))
      assert.deepStrictEqual(text.value, expected)
    }))

  it.scoped("succeeds with the whole result when it declares no success", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const result = { content: [{ type: "text", text: "told" }], _meta: { took: 1 } }
      const { value } = yield* answered(server, tools.tell({ what: "it" }), "tools/call", result)
      assert.deepStrictEqual<unknown>(value, result)
    }))

  it.scoped("fails with the failure that it declares, decoded", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const isError = { isError: true }
      const call = tools.search({ q: "x" })
      const first = yield* refused(server, call, "tools/call", inWords({ _tag: "NotFound", q: "x" }, isError))
      assert.instanceOf(first, NotFound)
      const second = yield* refused(
        server,
        call,
        "tools/call",
        inWords({ _tag: "Busy", until: "1970-01-01T00:00:00.000Z" }, isError)
      )
      assert.deepStrictEqual(second, new Busy({ until: new Date(0) }))
      const text = { content: [{ type: "text", text: "just no" }], isError: true }
      assert.strictEqual(yield* refused(server, tools.blunt(), "tools/call", text), "just no")
    }))

  it.scoped("fails with `ToolError` when it failed in another way", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const results: ReadonlyArray<JsonObject> = [
        { content: [{ type: "text", text: "Out of disk" }], isError: true },
        inWords({ _tag: "NotFound" }, { isError: true }),
        inWords({ _tag: "Gone", q: "x" }, { isError: true }),
        { content: [], structuredContent: { _tag: "NotFound", q: "x" }, isError: true }
      ]
      for (const result of results) {
        const error = yield* refused(server, tools.search({ q: "x" }), "tools/call", result)
        assert.instanceOf(error, ToolError)
        assert.strictEqual((error as ToolError).tool, "search")
        assert.deepStrictEqual<unknown>((error as ToolError).result, result)
      }
      const error = yield* refused(server, tools.tell({ what: "it" }), "tools/call", results[0]!)
      assert.strictEqual((error as ToolError).message, "Out of disk")
    }))

  it.scoped("fails on an invalid success, and names the place", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const problem = (result: JsonObject) =>
        Effect.map(refused(server, tools.strict(), "tools/call", result), (error) => {
          assert.deepInclude(error as object, { _tag: "TransportError", reason: "Decode" })
          return error.message
        })
      assert.strictEqual(
        yield* problem({ content: [], structuredContent: { n: 1.5 } }),
        "The result of the tool \"strict\" is not valid: n: Expected an integer, actual 1.5"
      )
      assert.include(yield* problem({ content: [], structuredContent: {} }), "n: is missing")
      assert.match(yield* problem(inWords({ n: "1" })), /n: Expected (number|an integer), actual "1"/)
      assert.include(yield* problem({ content: [{ type: "text", text: "one" }] }), "Expected ")
      assert.include(yield* problem({ content: [] }), "Expected ")
    }))

  it.scoped("fails as any call, with the server's errors", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const calling = yield* Effect.fork(Effect.flip(tools.count()))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "Unknown tool: count" } })
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "InvalidParams", message: "Unknown tool: count" })
    }))

  it.scoped("sends nothing when its arguments are invalid", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const empty = yield* Effect.flip(tools.search({ q: "" }))
      assert.strictEqual(empty._tag, "InvalidParams")
      assert.include((empty as Error).message, "Invalid arguments for tool \"search\": q: ")
      const wrong: ReadonlyArray<unknown> = [{ q: 7 }, {}, { q: "x", limit: 1.5 }, { q: "x", since: "today" }]
      for (const args of wrong) {
        assert.strictEqual((yield* Effect.flip(tools.search(args as { q: string })))._tag, "InvalidParams")
      }
      yield* server.expectSilence
    }))

  it.scoped("is called again each time that it is run", () =>
    Effect.gen(function*() {
      const { server, tools } = yield* typed
      const count = tools.count()
      for (const n of [1, 2]) {
        const { exit } = yield* exchange(server, count, "tools/call", { content: [], structuredContent: String(n) })
        assert.strictEqual(yield* exit, n)
      }
    }))
})
