import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/core/Tool"
import type { ToolResult } from "@effect-mcp/core/ToolResult"
import { Context, type Effect, Schema } from "effect"
import { expectTypeOf } from "vitest"
import type * as EffectParser from "../../src/protocol/schema/EffectParser.js"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}
class Point extends Schema.Class<Point>("Point")({
  x: Schema.Number,
  y: Schema.optionalWith(Schema.Number, { default: () => 0 })
}) {}

const Search = Tool.make("search", {
  parameters: {
    q: Schema.String,
    limit: Schema.optionalWith(Schema.Int, { default: () => 10 }),
    tag: Schema.optional(Schema.String)
  },
  success: Schema.Struct({ hits: Schema.Array(Schema.Date) }),
  failure: NotFound
})

describe("Tool's types", () => {
  it("keep the name as a literal", () => {
    expectTypeOf(Search.name).toEqualTypeOf<"search">()
    assert.strictEqual(Search.name, "search")
  })

  it("give a handler decoded parameters, with defaults", () => {
    type Parameters = Tool.Tool.Parameters<typeof Search>
    expectTypeOf<Parameters>().toExtend<{ q: string; limit: number; tag?: string | undefined }>()
    expectTypeOf<{ q: string; limit: number; tag: undefined }>().toExtend<Parameters>()
    expectTypeOf<Parameters["limit"]>().toEqualTypeOf<number>()
    const When = Tool.make("when", { parameters: { at: Schema.Date } })
    expectTypeOf<Tool.Tool.Parameters<typeof When>>().toEqualTypeOf<{ readonly at: Date }>()
    const At = Tool.make("at", { parameters: Point })
    expectTypeOf<Tool.Tool.Parameters<typeof At>>().toEqualTypeOf<Point>()
    assert.deepStrictEqual([When.name, At.name], ["when", "at"])
  })

  it("make parameters that have a default optional for a caller", () => {
    expectTypeOf<{ readonly q: string }>().toExtend<Tool.Tool.Arguments<typeof Search>>()
    expectTypeOf<{ readonly q: string; readonly limit: number }>().toExtend<Tool.Tool.Arguments<typeof Search>>()
    expectTypeOf<{ readonly limit: number }>().not.toExtend<Tool.Tool.Arguments<typeof Search>>()
    expectTypeOf<{ readonly q: string; readonly limit: string }>().not.toExtend<Tool.Tool.Arguments<typeof Search>>()
    const At = Tool.make("at", { parameters: Point })
    expectTypeOf<{ readonly x: number }>().toExtend<Tool.Tool.Arguments<typeof At>>()
    const Filtered = Tool.make("filtered", {
      parameters: Schema.Struct({ a: Schema.Int }).pipe(Schema.filter(() => true))
    })
    expectTypeOf<Tool.Tool.Arguments<typeof Filtered>>().toEqualTypeOf<{ readonly a: number }>()
    const None = Tool.make("none")
    expectTypeOf<{}>().toExtend<Tool.Tool.Arguments<typeof None>>()
    assert.deepStrictEqual([At.name, Filtered.name, None.name], ["at", "filtered", "none"])
  })

  it("allow a handler the success value, or a result with content", () => {
    type Hits = { readonly hits: ReadonlyArray<Date> }
    expectTypeOf<Tool.Returns<Tool.Tool.Success<typeof Search>>>().toEqualTypeOf<Hits | ToolResult<Hits>>()
    expectTypeOf<ToolResult>().not.toExtend<Tool.Returns<Hits>>()
    const Tell = Tool.make("tell")
    expectTypeOf<Tool.Returns<Tool.Tool.Success<typeof Tell>>>().toEqualTypeOf<void | string | ToolResult<unknown>>()
    const Anything = Tool.make("anything", { success: Schema.Any })
    expectTypeOf<Tool.Returns<Tool.Tool.Success<typeof Anything>>>().toBeAny()
    const Unknown = Tool.make("unknown", { success: Schema.Unknown })
    expectTypeOf<{ readonly a: 1 }>().toExtend<Tool.Returns<Tool.Tool.Success<typeof Unknown>>>()
    assert.deepStrictEqual([Tell.name, Anything.name, Unknown.name], ["tell", "anything", "unknown"])
  })

  it("have the declared failure, or never", () => {
    expectTypeOf<Tool.Tool.Failure<typeof Search>>().toEqualTypeOf<NotFound>()
    const Sure = Tool.make("sure")
    expectTypeOf<Tool.Tool.Failure<typeof Sure>>().toBeNever()
    expectTypeOf(Search.codec.decodeArguments).returns.toEqualTypeOf<
      Effect.Effect<Tool.Tool.Parameters<typeof Search>, EffectParser.ParseIssue>
    >()
    assert.strictEqual(Sure.name, "sure")
  })

  it("refuse schemas that require services", () => {
    class Db extends Context.Tag("Db")<Db, { readonly known: ReadonlySet<string> }>() {}
    const Known: Schema.Schema<string, string, Db> = Schema.String as never
    const tools = [
      // @ts-expect-error a parameter needs Db
      () => Tool.make("a", { parameters: { known: Known } }),
      // @ts-expect-error an optional parameter needs Db
      () => Tool.make("a", { parameters: { known: Schema.optionalWith(Known, { default: () => "" }) } }),
      // @ts-expect-error the parameters need Db
      () => Tool.make("a", { parameters: Schema.Struct({ known: Known }) }),
      // @ts-expect-error the success needs Db
      () => Tool.make("b", { success: Known }),
      // @ts-expect-error the failure needs Db
      () => Tool.make("c", { failure: Known })
    ]
    assert.lengthOf(tools, 5)
  })
})

describe("The types of a tool's parameters and arguments", () => {
  it("are those that Effect gives the same fields, for fields of every kind", () => {
    const fields = {
      text: Schema.String,
      date: Schema.Date,
      key: Schema.optional(Schema.String),
      exact: Schema.optionalWith(Schema.NumberFromString, { exact: true }),
      filled: Schema.optionalWith(Schema.Number, { default: () => 1 }),
      maybe: Schema.optionalWith(Schema.Number, { as: "Option" }),
      constructed: Schema.String.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "")),
      renamed: Schema.propertySignature(Schema.Boolean).pipe(Schema.fromKey("other")),
      "quoted-key": Schema.NullOr(Schema.Array(Schema.Unknown))
    }
    class Point extends Schema.Class<Point>("Point")({ x: Schema.Number, y: fields.filled }) {}
    type Plain<T> = { [K in keyof T]: T[K] }
    const _own = Tool.make("own", { parameters: fields })
    expectTypeOf<Tool.Tool.Parameters<typeof _own>>().toEqualTypeOf<Plain<Schema.Struct.Type<typeof fields>>>()
    expectTypeOf<Tool.Tool.Arguments<typeof _own>>().toEqualTypeOf<Plain<Schema.Struct.Constructor<typeof fields>>>()
    const _struct = Tool.make("struct", { parameters: Schema.Struct(fields) })
    expectTypeOf<Tool.Tool.Parameters<typeof _struct>>().toEqualTypeOf<Tool.Tool.Parameters<typeof _own>>()
    expectTypeOf<Tool.Tool.Arguments<typeof _struct>>().toEqualTypeOf<Tool.Tool.Arguments<typeof _own>>()
    const _point = Tool.make("point", { parameters: Point })
    expectTypeOf<Tool.Tool.Parameters<typeof _point>>().toEqualTypeOf<Point>()
    expectTypeOf<Tool.Tool.Arguments<typeof _point>>().toEqualTypeOf<{ readonly x: number; readonly y?: number }>()
    const _none = Tool.make("none")
    expectTypeOf<Tool.Tool.Parameters<typeof _none>>().toEqualTypeOf<{}>()
    expectTypeOf<Tool.Tool.Arguments<typeof _none>>().toEqualTypeOf<{}>()
  })
})
