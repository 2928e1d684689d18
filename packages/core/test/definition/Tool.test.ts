import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/core/Tool"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Either, Schema } from "effect"

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Unnamed: Schema.Schema<Tree> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend(() => Unnamed))
})
const Named: Schema.Schema<Tree> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend(() => Named))
}).annotations({ identifier: "Tree" })

const ajv = new Ajv2020({ strict: false })

describe("Tool", () => {
  it("advertises its name, and nothing that was not given", () => {
    assert.deepStrictEqual(Tool.make("ping").advertised, {
      name: "ping",
      inputSchema: { type: "object", additionalProperties: false }
    })
  })

  it("advertises everything that was given", () => {
    const tool = Tool.make("search", {
      title: "Search",
      description: "Full-text search.",
      parameters: { q: Schema.String.annotations({ description: "What to look for." }) },
      success: Schema.Struct({ hits: Schema.Array(Schema.Int) }),
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/icon.png" }],
      meta: { "example.com/cost": 1 }
    })
    assert.deepStrictEqual(tool.advertised, {
      name: "search",
      title: "Search",
      description: "Full-text search.",
      inputSchema: {
        type: "object",
        required: ["q"],
        properties: { q: { type: "string", description: "What to look for." } }
      },
      outputSchema: {
        type: "object",
        required: ["hits"],
        properties: { hits: { type: "array", items: { type: "integer" } } }
      },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/icon.png" }],
      _meta: { "example.com/cost": 1 }
    })
    assert.isTrue(Tool.isTool(tool))
    assert.isFalse(Tool.isTool({ ...tool, [Tool.TypeId]: undefined, codec: undefined }.advertised))
  })

  it("may have no parameters, and advertises their description", () => {
    const none = { type: "object", additionalProperties: false }
    assert.deepStrictEqual<unknown>(Tool.make("a", { parameters: {} }).advertised.inputSchema, none)
    assert.deepStrictEqual<unknown>(Tool.make("a", { parameters: Schema.Struct({}) }).advertised.inputSchema, none)
    const described = Tool.make("a", { parameters: Schema.Struct({}).annotations({ description: "Nothing." }) })
    assert.deepStrictEqual<unknown>(described.advertised.inputSchema, { description: "Nothing.", ...none })
  })

  it("accepts a class, a record, a union of structs and a recursive type as parameters", () => {
    class Point extends Schema.Class<Point>("Point")({ x: Schema.NumberFromString }) {}
    const cases: ReadonlyArray<readonly [Schema.Schema<any, any>, unknown, unknown]> = [
      [Point, { x: "1" }, { x: 1 }],
      [Schema.Record({ key: Schema.String, value: Schema.Number }), { a: 1 }, { a: "1" }],
      [
        Schema.Union(Schema.Struct({ type: Schema.Literal("a") }), Schema.Struct({ type: Schema.Literal("b") })),
        { type: "b" },
        { type: "c" }
      ],
      [Named, { name: "root", children: [{ name: "leaf", children: [] }] }, { name: "root", children: [{}] }]
    ]
    for (const [parameters, good, bad] of cases) {
      const { advertised, codec } = Tool.make("shape", { parameters })
      assert.strictEqual(advertised.inputSchema.type, "object")
      const validate = ajv.compile(advertised.inputSchema)
      for (const [args, taken] of [[good, true], [bad, false]] as const) {
        assert.strictEqual(validate(args), taken)
        assert.strictEqual(Either.isRight(Effect.runSync(Effect.either(codec.decodeArguments(args)))), taken)
      }
    }
  })

  it("may return a value that is not an object", () => {
    assert.deepStrictEqual(Tool.make("now", { success: Schema.Date }).advertised.outputSchema, {
      type: "string",
      format: "date-time"
    })
    assert.deepStrictEqual(Tool.make("list", { success: Schema.Array(Schema.Int) }).advertised.outputSchema, {
      type: "array",
      items: { type: "integer" }
    })
  })

  it("returns content only where its success is void", () => {
    for (const success of [Schema.Void, Schema.Undefined]) {
      const tool = Tool.make("tell", { success })
      assert.notProperty(tool.advertised, "outputSchema")
      assert.isUndefined(tool.success)
    }
  })

  it("throws an error that names the tool, the schema and the problem", () => {
    const parameters = `Tool "broken": parameters`
    assert.throws(
      // @ts-expect-error no object
      () => Tool.make("broken", { parameters: Schema.String }),
      `${parameters} must be an object: pass fields`
    )
    assert.throws(
      // @ts-expect-error no object
      () => Tool.make("broken", { parameters: Schema.Union(Schema.Struct({}), Schema.String) }),
      `${parameters} must be an object: pass fields`
    )
    assert.throws(
      () => Tool.make("broken", { parameters: Schema.Never as never }),
      `${parameters} must not be Schema.Never`
    )
    assert.throws(
      () => Tool.make("broken", { success: Schema.Never as never }),
      `Tool "broken": success must not be Schema.Never`
    )
    assert.throws(
      () => Tool.make("broken", { parameters: Unnamed }),
      `${parameters} cannot be advertised as JSON Schema`
    )
    assert.throws(() => Tool.make("broken", { parameters: Unnamed }), `["children"]`)
    assert.throws(
      () => Tool.make("broken", { parameters: { at: Schema.DateFromSelf } }),
      `${parameters} cannot be advertised as JSON Schema`
    )
    assert.throws(
      () => Tool.make("broken", { success: Schema.BigIntFromSelf }),
      `Tool "broken": success cannot be advertised as JSON Schema`
    )
    // What the error names is a remedy.
    for (
      const [broken, remedy, mended] of [
        [Schema.DateFromSelf, "Schema.Date for a Date", Schema.Date],
        [Schema.BigIntFromSelf, "Schema.BigInt for a bigint", Schema.BigInt],
        [
          Schema.MapFromSelf({ key: Schema.String, value: Schema.Number }),
          "Schema.Map for a Map",
          Schema.Map({ key: Schema.String, value: Schema.Number })
        ],
        [
          Schema.declare((u): u is URL => u instanceof URL),
          `the annotation "jsonSchema"`,
          Schema.declare((u): u is URL => u instanceof URL, { jsonSchema: { type: "string" } })
        ],
        [Unnamed, `"identifier" for a type that refers to itself`, Named]
      ] as ReadonlyArray<readonly [Schema.Schema<any, any>, string, Schema.Schema<any, any>]>
    ) {
      assert.throws(() => Tool.make("broken", { parameters: { at: broken } }), remedy)
      Tool.make("mended", { parameters: { at: mended } })
    }
    const notJson = Schema.String.annotations({ jsonSchema: { type: "string", default: 1n } })
    assert.throws(
      () => Tool.make("broken", { success: notJson }),
      `Tool "broken": success cannot be advertised: an annotation of the schema cannot be represented as JSON`
    )
    // A discriminator of this name breaks Effect's own parser.
    const Odd = (literal: string) => Schema.Struct({ constructor: Schema.Literal(literal) })
    assert.throws(
      () => Tool.make("broken", { parameters: Schema.Union(Odd("a"), Odd("b")) }),
      `Tool "broken": its schemas cannot be used by Effect's parser`
    )
  })
})
