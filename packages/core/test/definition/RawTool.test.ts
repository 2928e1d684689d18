import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Cause, Effect, Either, Exit } from "effect"
import { expectTypeOf } from "vitest"

const inputSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://example.com/search",
  type: "object",
  properties: { q: { $ref: "#text" }, limit: { type: "integer", default: 10 }, filter: { $ref: "#/$defs/filter" } },
  required: ["q"],
  additionalProperties: false,
  $defs: {
    text: { $anchor: "text", type: "string", minLength: 1 },
    filter: { type: "object", properties: { all: { type: "array", items: { $ref: "#/$defs/filter" } } } }
  }
} as const

const Search = RawTool.make("search", {
  description: "Full-text search.",
  title: "Search",
  inputSchema,
  outputSchema: { type: "object", properties: { hits: { type: "array" } }, required: ["hits"] },
  annotations: { readOnlyHint: true },
  icons: [{ src: "https://example.com/icon.png" }],
  meta: { "example.com/cost": 1 }
})

const input = { type: "object" } as const

describe("A raw tool", () => {
  it("advertises its schemas as they are, and everything else that was given", () => {
    assert.deepStrictEqual<unknown>(Search.advertised, {
      name: "search",
      title: "Search",
      description: "Full-text search.",
      inputSchema,
      outputSchema: { type: "object", properties: { hits: { type: "array" } }, required: ["hits"] },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/icon.png" }],
      _meta: { "example.com/cost": 1 }
    })
    assert.strictEqual(JSON.stringify(Search.advertised.inputSchema), JSON.stringify(inputSchema))
    assert.deepStrictEqual<unknown>(RawTool.make("ping", { inputSchema: input }).advertised, {
      name: "ping",
      inputSchema: input
    })
    assert.isTrue(Tool.isTool(Search))
    assert.strictEqual<unknown>(Definition.make(Search).tools.get("search"), Search)
  })

  it("does not change when the schema object is changed later", () => {
    const schema: { type: string; required: Array<string> } = { type: "object", required: [] }
    const tool = RawTool.make("late", { inputSchema: schema })
    schema.required.push("q")
    assert.deepStrictEqual<unknown>(tool.advertised.inputSchema, { type: "object", required: [] })
    assert.deepStrictEqual(Effect.runSync(tool.codec.decodeArguments({})), {})
  })

  it("is typed by its schemas: objects as arguments, and the success by the output schema", () => {
    expectTypeOf(Search).toEqualTypeOf<Tool.Tool<"search", JsonObject, JsonObject, JsonObject, never>>()
    const Tell = RawTool.make("tell", { inputSchema: input })
    expectTypeOf(Tell).toEqualTypeOf<Tool.Tool<"tell", JsonObject, JsonObject, void, never>>()
    const List = RawTool.make("list", { inputSchema: input, outputSchema: { type: "array" } })
    expectTypeOf(List).toEqualTypeOf<Tool.Tool<"list", JsonObject, JsonObject, unknown, never>>()
    const read = (outputSchema: JsonObject) => RawTool.make("read", { inputSchema: input, outputSchema })
    expectTypeOf<Tool.Tool.Success<ReturnType<typeof read>>>().toEqualTypeOf<unknown>()
    assert.deepStrictEqual([Tell.name, List.name, read({}).name], ["tell", "list", "read"])
  })

  it("throws an error that names the tool, the schema and the problem", () => {
    assert.throws(
      () => RawTool.make("broken", { inputSchema: { type: "string" } }),
      `Tool "broken": inputSchema must have "type": "object", because arguments are an object`
    )
    assert.throws(() => RawTool.make("broken", { inputSchema: {} }), `must have "type": "object"`)
    assert.throws(
      () => RawTool.make("broken", { inputSchema: { type: "object", properties: { a: { type: "text" } } } }),
      `Tool "broken": inputSchema is not a valid JSON Schema: "properties.a.type" must be one of`
    )
    assert.throws(
      () => RawTool.make("broken", { inputSchema: { type: "object", $schema: "x:y" } }),
      `Tool "broken": inputSchema has the dialect "x:y"; supported are draft 2020-12, 2019-09 and draft-07`
    )
    assert.throws(
      () => RawTool.make("broken", { inputSchema: input, outputSchema: { $ref: "https://example.com/x" } }),
      `Tool "broken": outputSchema cannot be used: "$ref" leads to no part of it: https://example.com/x`
    )
    assert.throws(
      () => RawTool.make("broken", { inputSchema: { type: "object", default: 1n } }),
      `Tool "broken": inputSchema is not a JSON Schema: it must be an object that JSON can represent`
    )
  })
})

describe("The arguments of a raw tool", () => {
  it.effect("reach the handler as they were sent, once they conform", () =>
    Effect.gen(function*() {
      const { decodeArguments, encodeArguments } = Search.codec
      const args = { q: "x", filter: { all: [{ all: [] }] } }
      assert.strictEqual<unknown>(yield* decodeArguments(args), args)
      assert.strictEqual<unknown>(yield* encodeArguments(args), args)
      assert.deepStrictEqual(
        yield* RawTool.make("ping", { inputSchema: input }).codec.encodeArguments(undefined as never),
        {}
      )
    }))

  it.effect("that do not conform become an issue with the place of each error", () =>
    Effect.gen(function*() {
      for (const code of [Search.codec.decodeArguments, Search.codec.encodeArguments]) {
        const issue = yield* Effect.flip(code({ limit: 1.5, more: 1, filter: { all: [1] } }))
        assert.deepStrictEqual([...Issue.places(issue)].sort((a, b) => a.path < b.path ? -1 : 1), [
          { path: "filter.all.0", message: "must be object" },
          { path: "limit", message: "must be integer" },
          { path: "more", message: "is unexpected" },
          { path: "q", message: "is missing" }
        ])
      }
      for (const odd of [[], "x", null, 1]) {
        assert.strictEqual(Issue.sentence(yield* Effect.flip(Search.codec.decodeArguments(odd))), "must be object")
      }
    }))

  it.effect("have the formats that the schema names, unless formats are turned off", () =>
    Effect.gen(function*() {
      const inputSchema = { type: "object", properties: { at: { type: "string", format: "date-time" } } }
      const { decodeArguments } = RawTool.make("book", { inputSchema }).codec
      yield* decodeArguments({ at: "2026-07-28T12:00:00Z" })
      const issue = yield* Effect.flip(decodeArguments({ at: "tomorrow" }))
      assert.strictEqual(Issue.sentence(issue), "at: must have the format date-time")
      yield* RawTool.make("book", { inputSchema, formats: false }).codec.decodeArguments({ at: "tomorrow" })
    }))

  it.effect("may be schemas themselves, where the schema refers to that of a dialect", () =>
    Effect.gen(function*() {
      for (
        const dialect of ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
      ) {
        const inputSchema = { type: "object", properties: { schema: { $ref: dialect } } }
        const { decodeArguments } = RawTool.make("check", { inputSchema }).codec
        for (const schema of [true, {}, { type: "object", $ref: "#/definitions/a", definitions: { a: {} } }]) {
          yield* decodeArguments({ schema })
        }
        const issue = yield* Effect.flip(decodeArguments({ schema: { properties: { a: { type: "odd" } } } }))
        assert.match(Issue.sentence(issue), /^schema: is not a valid JSON Schema: "properties.a.type" must be one of/)
        yield* Effect.flip(decodeArguments({ schema: 1 }))
      }
    }))

  it.effect("are validated in the dialect that the schema names", () =>
    Effect.gen(function*() {
      const pairs = (inputSchema: JsonObject) =>
        RawTool.make("pairs", { inputSchema: { type: "object", ...inputSchema } }).codec.decodeArguments({
          pair: [1, 2]
        })
      const pair = [{ type: "string" }]
      const $schema = "http://json-schema.org/draft-07/schema#"
      yield* pairs({ $schema, properties: { pair: { prefixItems: pair } } })
      yield* Effect.flip(pairs({ properties: { pair: { prefixItems: pair } } }))
      yield* Effect.flip(pairs({ $schema, properties: { pair: { items: pair } } }))
    }))
})

describe("The success of a raw tool", () => {
  it.effect("is structured content and the same as text, where it conforms", () =>
    Effect.gen(function*() {
      const result = yield* Search.codec.encodeSuccess({ hits: [1] })
      assert.deepStrictEqual<unknown>(result, {
        content: [{ type: "text", text: `{"hits":[1]}` }],
        structuredContent: { hits: [1] }
      })
      assert.deepStrictEqual(yield* Search.codec.decodeSuccess(result), { hits: [1] })
      assert.deepStrictEqual(yield* Search.codec.decodeSuccess({ content: result.content }), { hits: [1] })
      const issue = yield* Effect.flip(Search.codec.decodeSuccess({ content: [], structuredContent: {} }))
      assert.strictEqual(Issue.sentence(issue), "hits: is missing")
    }))

  it.effect("is a bug of the handler where it does not conform", () =>
    Effect.gen(function*() {
      for (const wrong of [{}, ToolResult.make().pipe(ToolResult.withStructured({ hits: 1 }))]) {
        const exit = yield* Effect.exit(Search.codec.encodeSuccess(wrong))
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      }
    }))

  it.effect("is content only without an output schema, and a plain text where it is always a string", () =>
    Effect.gen(function*() {
      const Tell = RawTool.make("tell", { inputSchema: input })
      assert.deepStrictEqual<unknown>(yield* Tell.codec.encodeSuccess("hi"), {
        content: [{ type: "text", text: "hi" }]
      })
      const Name = RawTool.make("name", { inputSchema: input, outputSchema: { type: "string", maxLength: 3 } })
      assert.deepStrictEqual<unknown>(yield* Name.codec.encodeSuccess("hi"), {
        content: [{ type: "text", text: "hi" }],
        structuredContent: "hi"
      })
    }))

  it.effect("runs the patterns of its schemas in linear time, unless it may run them natively", () =>
    Effect.gen(function*() {
      const inputSchema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }
      const Linear = RawTool.make("t", { inputSchema })
      assert.isTrue(Either.isRight(yield* Effect.either(Linear.codec.decodeArguments({ a: "aaa" }))))
      // JavaScript's engine would need years for the second text.
      for (const a of ["b", `${"a".repeat(5000)}b`]) {
        assert.isTrue(Either.isLeft(yield* Effect.either(Linear.codec.decodeArguments({ a }))))
      }
      const lookaround = { type: "object", properties: { a: { type: "string", pattern: "^(?=a)" } } }
      assert.throws(() => RawTool.make("t", { inputSchema: lookaround }), /inputSchema.*patterns: "native"/)
      assert.strictEqual(RawTool.make("t", { inputSchema: lookaround, patterns: "native" }).name, "t")
    }))
})
