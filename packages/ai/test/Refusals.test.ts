/**
 * What the APIs of models refuse a whole request for, and what a hostile server could cost its client: halves of characters,
 * empty values, too many images, schemas that become large.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ToolOutput from "@effect-mcp/ai/ToolOutput"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import { Effect, Either, Layer } from "effect"
import { client } from "./Serving.js"

const dialects = ["json-schema", "openai", "openai-strict", "anthropic", "gemini"] as const

const property = (a: JsonObject, dialect: ModelSchema.Dialect): JsonObject => {
  const { schema } = Either.getOrThrow(ModelSchema.make({ type: "object", properties: { a } }, dialect))
  return (schema.properties as { readonly a: JsonObject }).a
}

/** Doubles at each of its steps. */
const doubling = (steps: number): JsonObject => ({
  type: "object",
  properties: { a: { $ref: "#/$defs/D0" } },
  $defs: Object.fromEntries(
    Array.from({ length: steps }, (_, step) => {
      const $ref = `#/$defs/D${step + 1}`
      return [`D${step}`, step === steps - 1 ? {} : { type: "object", properties: { l: { $ref }, r: { $ref } } }]
    })
  )
})

describe("What a model's API would refuse", () => {
  for (const dialect of dialects) {
    it(`is not in the schema of arguments: half of a character, for ${dialect}`, () => {
      const made = property({ type: "string", description: "a\ud83d \\ud83d", enum: ["😀", "b\ude00"] }, dialect)
      assert.strictEqual(made.description, "a\ufffd \\ud83d")
      assert.includeMembers(made.enum as Array<unknown>, ["😀", "b\ufffd"])
    })
  }

  it("is not in the schema of arguments for Gemini: an enumeration without values, or with an empty one", () => {
    const nothing = property({ type: "string", enum: ["", "b"] }, "gemini")
    assert.deepStrictEqual(nothing, { type: "string", description: "(enum: [\"\",\"b\"])" })
    assert.notProperty(property({ type: "string", enum: [] }, "gemini"), "enum")
    assert.notProperty(property({ enum: [null] }, "gemini"), "enum")
  })

  it("is not in the value of a result: half of a character", () => {
    const output = ToolOutput.make({ content: [], structuredContent: { "a\udc00": ["b\ud83d", "\\ud83d", "😀"] } })
    assert.deepStrictEqual(ToolOutput.value(output), { "a\ufffd": ["b\ufffd", "\\ud83d", "😀"] })
  })

  it("is not in an output: a text of blanks, an empty image", () => {
    const output = ToolOutput.make({
      content: [{ type: "text", text: " \n" }, { type: "image", data: "", mimeType: "image/png" }]
    })
    assert.deepStrictEqual(output.parts, [
      { type: "text", text: "[image: image/png, 0 bytes, left out: it is empty]" }
    ])
    const blank = ToolOutput.make({ content: [{ type: "text", text: "\t" }] })
    assert.strictEqual(blank.text, "The tool returned nothing.")
  })

  it("is not in an output: more than 100 images", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" }
    const { parts } = ToolOutput.make({ content: Array.from({ length: 100_000 }, () => image) }, { maxText: 1000 })
    assert.strictEqual(parts.filter(({ type }) => type === "image").length, 100)
    assert.isBelow(parts.length, 200)
    assert.deepInclude(parts[100], { text: "[image: image/png, 3 bytes, left out: there are more than 100]" })
  })
})

describe("What a server can cost", () => {
  const tool = (name: string, inputSchema: JsonObject) =>
    McpServer.tool(RawTool.make(name, { inputSchema }), () => Effect.succeed(""))

  it.scoped("is bounded for all schemas of a list together, refused ones included", () =>
    Effect.gen(function*() {
      const large = Array.from({ length: 60 }, (_, n) => tool(`large-${n}`, doubling(30)))
      const small = tool("small", { type: "object", properties: { a: { type: "string" } } })
      const session = yield* client(Layer.mergeAll(tool("able", { type: "object" }), small, ...large))
      const before = process.cpuUsage()
      const { skipped, tools } = yield* ToolList.make(session, { dialect: "openai" })
      // One of these schemas costs some 50 milliseconds.
      assert.isBelow(process.cpuUsage(before).user, 2_000_000)
      assert.deepStrictEqual(tools.map(({ name }) => name), ["able", "small"])
      assert.include(skipped[0]?.reason, "too large: more than")
      assert.include(
        skipped.at(-1)?.reason,
        "too large together with the schemas of other tools: more than 100000 parts together"
      )
    }))

  it.scoped("leaves no small schema out beside large ones, with references or without", () =>
    Effect.gen(function*() {
      const $ref = "#/$defs/Place"
      const trip: JsonObject = {
        type: "object",
        properties: { from: { $ref }, to: { $ref } },
        $defs: { Place: { type: "object", properties: { street: { type: "string" }, town: { type: "string" } } } }
      }
      const long = Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`a${n}`, { type: "string", description: "x".repeat(40) }])
      )
      const large = Array.from({ length: 10 }, (_, n) => tool(`large-${n}`, doubling(30)))
      const small = Array.from({ length: 10 }, (_, n) => tool(`small-${n}`, trip))
      const one = tool("long", { type: "object", properties: long })
      const session = yield* client(Layer.mergeAll(one, ...large, ...small))
      const { skipped, tools } = yield* ToolList.make(session, { dialect: "openai" })
      assert.deepStrictEqual(tools.map(({ name }) => name), ["long", ...small.map((_, n) => `small-${n}`)])
      assert.lengthOf(skipped, 10)
    }))

  it("is bounded for a long text, whatever the model: 262144 characters", () => {
    for (const dialect of dialects) {
      const made = (length: number) => {
        const given = { type: "object", properties: {}, description: "" }
        return ModelSchema.make({ ...given, description: "a".repeat(length - JSON.stringify(given).length) }, dialect)
      }
      assert.isTrue(Either.isRight(made(262_144)), dialect)
      assert.include(Either.getOrThrow(Either.flip(made(262_145))), "more than 262144 characters", dialect)
    }
  })

  const bounded = <A>(work: () => A): A => {
    const before = process.cpuUsage()
    const made = work()
    assert.isBelow(process.cpuUsage(before).user, 1_000_000)
    return made
  }

  const named = (count: number, one: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, one]))

  it("is bounded for a long name or text that many references repeat", () => {
    const long = "x".repeat(100_000)
    for (const Long of [{ properties: { [long]: {} } }, { not: long }, { anyOf: [long] }, { enum: [long] }]) {
      const schema = { type: "object", properties: named(1000, { $ref: "#/$defs/Long" }), $defs: { Long } }
      for (const dialect of ["openai", "openai-strict", "gemini"] as const) {
        const made = bounded(() => ModelSchema.make(schema, dialect))
        assert.include(Either.getOrThrow(Either.flip(made)), "too large")
      }
    }
  })

  it("is bounded for what many levels of `allOf` merge", () => {
    for (
      const inner of [{ properties: named(9000, {}) }, named(12_000, 1), { required: Object.keys(named(20_000, 1)) }]
    ) {
      const a = Array.from({ length: 400 }).reduce<JsonObject>(
        (one) => ({ allOf: [one, { title: "A" }] }),
        inner
      )
      const made = bounded(() => ModelSchema.make({ type: "object", properties: { a } }, "openai"))
      assert.include(Either.getOrThrow(Either.flip(made)), "too large")
    }
  })

  it("is bounded for a schema with many alternatives", () => {
    const oneOf = Array.from({ length: 6000 }, (_, index) => ({ properties: { a: { const: index } } }))
    for (const dialect of dialects) {
      assert.isTrue(
        Either.isRight(bounded(() => ModelSchema.make({ type: "object", properties: { a: { oneOf } } }, dialect)))
      )
    }
  })

  it("is bounded for patterns that no end closes", () => {
    for (
      const [pattern, count] of [["[".repeat(9999), 25], [`${"a".repeat(9998)}[`, 25], [
        "(".repeat(200_000),
        1
      ]] as const
    ) {
      const properties = named(count, { type: "string", pattern })
      for (const dialect of dialects) {
        const made = bounded(() => ModelSchema.make({ type: "object", properties }, dialect))
        assert.notInclude(JSON.stringify(Either.getOrThrow(made).schema), "\"pattern\"")
      }
    }
  })

  it("is bounded for arguments with many objects, whose schema has many properties or alternatives", () => {
    const text = { type: "string" }
    const all = Array.from({ length: 5000 }, () => ({ p1: null, p2: "a" }))
    const oneOf = Array.from({ length: 4000 }, (_, index) => ({ properties: { [`p${index}`]: text } }))
    for (const items of [{ properties: named(8000, text) }, { oneOf }]) {
      const schema = { type: "object", properties: { all: { type: "array", items } } }
      const args = bounded(() => ModelSchema.withoutNulls({ all }, schema))
      assert.deepStrictEqual((args.all as ReadonlyArray<unknown>)[4999], { p2: "a" })
    }
  })

  it("is bounded for a long chain of references", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, step) => [`C${step}`, { $ref: `#/$defs/C${step + 1}` }])
    )
    const made = ModelSchema.make({ type: "object", properties: { a: { $ref: "#/$defs/C0" } }, $defs }, "openai")
    assert.include(Either.getOrThrow(Either.flip(made)), "too large")
  })
})
