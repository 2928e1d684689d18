import { assert, describe, it } from "@effect/vitest"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Cause, Effect, Either, Exit, FastCheck as fc, Schema } from "effect"
import { schemaArbitrary } from "../../../../testing/test/support/SchemaArbitrary.js"
import * as EffectParser from "../../../src/protocol/schema/EffectParser.js"

/** The value as the peer receives it. */
const sent = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** The result for a peer of a revision without structured content. */
const contentOnly = ({ structuredContent: _, ...rest }: Tools.CallToolResult): Tools.CallToolResult => rest

// An issue holds whole schemas: printing one takes minutes.
const toError = (issue: EffectParser.ParseIssue): Error => new EffectParser.ParseError({ issue })

const test = (name: string, run: () => Effect.Effect<void, EffectParser.ParseIssue>): void =>
  it.effect(name, () => Effect.mapError(run(), toError))

const runSync = <A>(effect: Effect.Effect<A, EffectParser.ParseIssue>): A =>
  Effect.runSync(Effect.mapError(effect, toError))

const succeed = (tool: Tool.Tool.Any, value: unknown) => Effect.runSync(tool.codec.encodeSuccess(value))

const bugOf = (effect: Effect.Effect<unknown, unknown>): unknown => {
  const exit = Effect.runSyncExit(effect)
  return Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
}

const When = Schema.Struct({ at: Schema.Date, note: Schema.optionalWith(Schema.String, { exact: true }) })

describe("A tool result that is an error", () => {
  it("is sent as it is, whatever the success schema is", () => {
    const Count = Tool.make("count", { success: Schema.Struct({ n: Schema.Int }) })
    assert.deepStrictEqual(succeed(Count, ToolResult.text("no").pipe(ToolResult.asError)), {
      content: [{ type: "text", text: "no" }],
      isError: true
    })
    const rich = ToolResult.image("AA==", "image/png").pipe(
      ToolResult.withStructured({ why: "tired" }),
      ToolResult.withMeta({ from: "it" }),
      ToolResult.asError
    )
    assert.deepStrictEqual(succeed(Count, rich), {
      content: [{ type: "image", data: "AA==", mimeType: "image/png" }],
      structuredContent: { why: "tired" },
      isError: true,
      _meta: { from: "it" }
    })
  })
})

describe("Tool's success", () => {
  it("is structured content, and the same as text", () => {
    const tool = Tool.make("when", { success: When })
    assert.deepStrictEqual(succeed(tool, { at: new Date(0), secret: 1 }), {
      content: [{ type: "text", text: `{"at":"1970-01-01T00:00:00.000Z"}` }],
      structuredContent: { at: "1970-01-01T00:00:00.000Z" }
    })
  })

  it("is read where a server of an older revision has made it the member of an object", () => {
    const read = (tool: Tool.Tool.Any, structuredContent: Tools.CallToolResult["structuredContent"]) =>
      runSync(tool.codec.decodeSuccess({ content: [], structuredContent: structuredContent! }))
    const list = Tool.make("list", { success: Schema.Array(Schema.Int) })
    assert.deepStrictEqual(read(list, { result: [1] }), [1])
    assert.deepStrictEqual(read(list, [1]), [1])
    const maybe = Tool.make("maybe", { success: Schema.NullOr(Schema.Struct({ result: Schema.optional(Schema.Int) })) })
    assert.deepStrictEqual(read(maybe, { result: null }), null)
    assert.deepStrictEqual(read(maybe, { result: { result: 1 } }), { result: 1 })
    assert.deepStrictEqual(read(maybe, { result: 1 }), { result: 1 })
    const own = Tool.make("own", { success: Schema.Struct({ result: Schema.Unknown }) })
    assert.deepStrictEqual(read(own, { result: [1] }), { result: [1] })
  })

  it("is a plain text where it is always a string", () => {
    assert.deepStrictEqual(succeed(Tool.make("s", { success: Schema.String }), "a \"b\""), {
      content: [{ type: "text", text: "a \"b\"" }],
      structuredContent: "a \"b\""
    })
    assert.deepStrictEqual(succeed(Tool.make("s", { success: Schema.NullOr(Schema.String) }), "a").content, [
      { type: "text", text: `"a"` }
    ])
  })

  it("is text, content or nothing without a success schema", () => {
    const tool = Tool.make("tell")
    assert.deepStrictEqual(succeed(tool, "hi"), { content: [{ type: "text", text: "hi" }] })
    assert.deepStrictEqual(succeed(tool, undefined), { content: [] })
    assert.deepStrictEqual(succeed(tool, ToolResult.image("", "image/png")), {
      content: [{ type: "image", data: "", mimeType: "image/png" }]
    })
    assert.deepStrictEqual(succeed(Tool.make("void", { success: Schema.Void }), undefined), { content: [] })
  })

  it("may have any content beside structured content and a meta", () => {
    const tool = Tool.make("rich", { success: When })
    const rich = ToolResult.text("Look:").pipe(
      ToolResult.concat(ToolResult.image(new Uint8Array([1]), "image/png")),
      ToolResult.concat(ToolResult.audio("AQ==", "audio/wav")),
      ToolResult.concat(ToolResult.link({ uri: "file:///a", name: "a" })),
      ToolResult.concat(ToolResult.resource({ uri: "file:///a", blob: "AQ==" })),
      ToolResult.withStructured({ at: new Date(0) }),
      ToolResult.withMeta({ took: 1 })
    )
    assert.deepStrictEqual(succeed(tool, rich), {
      content: [
        { type: "text", text: "Look:" },
        { type: "image", data: "AQ==", mimeType: "image/png" },
        { type: "audio", data: "AQ==", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "a" },
        { type: "resource", resource: { uri: "file:///a", blob: "AQ==" } }
      ],
      structuredContent: { at: "1970-01-01T00:00:00.000Z" },
      _meta: { took: 1 }
    })
  })

  // MUST also emit the text (2026-07-28 server/tools#structured-content).
  for (
    const [what, success, structured, json] of [
      ["an array", Schema.Array(Schema.Int), [1, 2], "[1,2]"],
      ["a number", Schema.Number, 7, "7"],
      ["a string", Schema.String, "seven", "seven"],
      ["a boolean", Schema.Boolean, false, "false"],
      ["null", Schema.Null, null, "null"],
      ["one of several types", Schema.Union(Schema.String, Schema.Int), "x", "\"x\""]
    ] as const
  ) {
    test(`MUST also be a text beside the texts of the handler, when the structured content is ${what}`, () =>
      Effect.gen(function*() {
        const tool = Tool.make("rich", { success: success as Schema.Schema<any> })
        const rich = ToolResult.text("Look:").pipe(ToolResult.withStructured<unknown>(structured))
        const result = succeed(tool, rich)
        assert.deepStrictEqual<unknown>(result, {
          content: [{ type: "text", text: "Look:" }, { type: "text", text: json }],
          structuredContent: structured
        })
        // Up to 2025-11-25 the structured content is withheld.
        assert.deepStrictEqual(yield* tool.codec.decodeSuccess(contentOnly(result)), structured)
        const said = ToolResult.text(json).pipe(ToolResult.withStructured<unknown>(structured))
        assert.lengthOf(succeed(tool, said).content, 1)
        const failed = succeed(tool, ToolResult.asError(rich)).content.flatMap((one) =>
          one.type === "text" ? [one.text] : []
        )
        assert.deepStrictEqual(failed, ["Look:", JSON.stringify(structured)])
      }))
  }

  it("SHOULD also be a text when it is structured content without a text", () => {
    const tool = Tool.make("when", { success: When })
    const structuredContent = { at: "1970-01-01T00:00:00.000Z" }
    const text = { type: "text", text: JSON.stringify(structuredContent) }
    const picture = ToolResult.image("AQ==", "image/png")
    const at = ToolResult.withStructured({ at: new Date(0) })
    assert.deepStrictEqual<unknown>(succeed(tool, at(ToolResult.make())), { content: [text], structuredContent })
    assert.deepStrictEqual<unknown>(succeed(tool, at(picture).pipe(ToolResult.withMeta({ took: 1 }))), {
      content: [...picture.content, text],
      structuredContent,
      _meta: { took: 1 }
    })
    const returned = at(ToolResult.text(""))
    assert.deepStrictEqual<unknown>(succeed(tool, returned), { content: returned.content, structuredContent })
    const named = Tool.make("named", { success: Schema.String })
    assert.deepStrictEqual<unknown>(succeed(named, picture.pipe(ToolResult.withStructured("a \"b\""))).content, [
      ...picture.content,
      { type: "text", text: "a \"b\"" }
    ])
  })

  it("MUST have structured content when an output schema is advertised: a result without it is a bug of the handler", () => {
    const tool = Tool.make("when", { success: When })
    assert.match(
      String(bugOf(tool.codec.encodeSuccess(ToolResult.text("soon") as never))),
      /Expected .* actual undefined/
    )
  })

  it("is a bug of the handler when it does not conform", () => {
    const tool = Tool.make("when", { success: When })
    assert.match(
      String(bugOf(tool.codec.encodeSuccess({ at: "yesterday" } as never))),
      /Expected (DateFromSelf|a valid Date)/
    )
    assert.match(String(bugOf(tool.codec.encodeSuccess(new ToolResult.ToolResult([], 1) as never))), /Expected/)
    const anything = Tool.make("anything", { success: Schema.Unknown })
    assert.throws(
      () => anything.codec.encodeSuccess(1n),
      "The tool returned a value that is not JSON: it has no form in JSON"
    )
    assert.throws(
      () => anything.codec.encodeSuccess(undefined),
      "The tool returned a value that is not JSON: it has no form in JSON"
    )
  })

  it("decodes to what was encoded, with structured content and without", () => {
    const Pair = Schema.Tuple(Schema.Int, Schema.NullOr(Schema.String))
    const successes: ReadonlyArray<Schema.Schema<any, any>> = [
      When,
      Schema.Array(When),
      Schema.String,
      Schema.Literal("1", "true"),
      Schema.Int,
      Schema.Boolean,
      Schema.NullOr(Schema.String),
      Schema.Union(Schema.String, Schema.Int, Schema.Struct({ a: Schema.String })),
      Pair,
      // Not of any key: a message with a member named "__proto__" is refused.
      Schema.Record({ key: Schema.String.pipe(Schema.pattern(/^[a-z]*$/)), value: Schema.Int }),
      Schema.BigInt
    ]
    for (const success of successes) {
      const tool = Tool.make("round", { success })
      const same = Schema.equivalence(success)
      fc.assert(
        fc.property(schemaArbitrary(success), (value) => {
          const result = sent(succeed(tool, value))
          for (const received of [result, contentOnly(result)]) {
            const decoded = Effect.runSync(Effect.either(tool.codec.decodeSuccess(received)))
            assert.isTrue(
              Either.isRight(decoded) && same(decoded.right, value),
              `${success}: ${JSON.stringify(received)}`
            )
          }
        }),
        { numRuns: 50 }
      )
    }
  })

  test("is decoded from the first text without structured content", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("when", { success: When })
      const content: Tools.CallToolResult["content"] = [
        { type: "image", data: "", mimeType: "image/png" },
        { type: "text", text: `{"at":"1970-01-01T00:00:00.000Z"}` },
        { type: "text", text: "{}" }
      ]
      assert.deepStrictEqual(yield* codec.decodeSuccess({ content }), { at: new Date(0) })
    }))

  test("is not decoded when it does not conform", () =>
    Effect.gen(function*() {
      const { decodeSuccess } = Tool.make("when", { success: When }).codec
      const received: ReadonlyArray<Tools.CallToolResult> = [
        { content: [] },
        { content: [{ type: "text", text: "not JSON" }] },
        { content: [{ type: "text", text: "{}" }] },
        { content: [], structuredContent: { at: 1 } },
        { content: [{ type: "image", data: "", mimeType: "image/png" }] }
      ]
      for (const result of received) assert.isTrue(Either.isLeft(yield* Effect.either(decodeSuccess(result))))
      const raw: Tools.CallToolResult = { content: [], _meta: { a: 1 } }
      assert.strictEqual<unknown>(yield* Tool.make("tell").codec.decodeSuccess(raw), raw)
    }))
})

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String, at: Schema.Date }) {}

describe("Tool's failure", () => {
  test("is sent to the model, and decodes to the same value", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("find", { failure: NotFound })
      const result = sent(yield* codec.encodeFailure(new NotFound({ q: "x", at: new Date(0) })))
      assert.deepStrictEqual(result, {
        content: [{ type: "text", text: `{"q":"x","at":"1970-01-01T00:00:00.000Z","_tag":"NotFound"}` }],
        isError: true
      })
      const decoded = yield* codec.decodeFailure(result)
      assert.instanceOf(decoded, NotFound)
      assert.strictEqual(decoded.q, "x")
    }))

  test("begins with the words that its author gave it, and decodes to the same value", () =>
    Effect.gen(function*() {
      class Full extends Schema.TaggedError<Full>()("Full", { disk: Schema.String }) {
        override get message() {
          return `The disk ${this.disk} is full.`
        }
      }
      class Told extends Schema.TaggedError<Told>()("Told", { message: Schema.String }) {}
      for (
        const [failure, failed, words] of [
          [Full, new Full({ disk: "a" }), "The disk a is full."],
          [Told, new Told({ message: "No." }), "No."]
        ] as const
      ) {
        const { codec } = Tool.make("write", { failure: failure as Schema.Schema<Full | Told, any> })
        const result = sent(yield* codec.encodeFailure(failed))
        const [first, second] = result.content
        assert.deepStrictEqual(first, { type: "text", text: words })
        assert.include(second?.type === "text" ? second.text : "", `"_tag":"${failed._tag}"`)
        assert.deepStrictEqual(yield* codec.decodeFailure(result), failed)
      }
    }))

  it("is a plain text where it is a string, whatever the text", () => {
    const { codec } = Tool.make("find", { failure: Schema.String })
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.constantFrom("5", `"quoted"`, "null", "")), (failure) => {
        const result = sent(Effect.runSync(codec.encodeFailure(failure)))
        assert.deepStrictEqual(result.content, [{ type: "text", text: failure }])
        assert.strictEqual(runSync(codec.decodeFailure(result)), failure)
      })
    )
  })

  it("is JSON where it may be a string or something else, and decodes to the same value", () => {
    const failure = Schema.Union(Schema.String, Schema.Struct({ code: Schema.Int }))
    const { codec } = Tool.make("find", { failure })
    fc.assert(
      fc.property(fc.oneof(schemaArbitrary(failure), fc.json()), (value) => {
        const result = sent(Effect.runSync(codec.encodeFailure(value)))
        assert.deepStrictEqual(runSync(codec.decodeFailure(result)), value)
      })
    )
    // Another server may send a string without JSON quotes.
    const received: Tools.CallToolResult = { content: [{ type: "text", text: "not found" }], isError: true }
    assert.strictEqual(runSync(codec.decodeFailure(received)), "not found")
  })

  it("is decoded where another server has written it: in its last text, or else in its first one", () => {
    const { codec } = Tool.make("find", { failure: Schema.Struct({ code: Schema.Int }) })
    const decoded = (...texts: ReadonlyArray<string>) =>
      runSync(codec.decodeFailure({ content: texts.map((text) => ({ type: "text", text })), isError: true }))
    assert.deepStrictEqual(decoded("It failed.", `{"code":2}`), { code: 2 })
    assert.deepStrictEqual(decoded(`{"code":1}`, "It failed."), { code: 1 })
    assert.deepStrictEqual(decoded(`{"code":1}`, `{"code":2}`), { code: 2 })
  })

  it("is a bug of the handler when it was not declared", () => {
    const { codec } = Tool.make("sure")
    assert.match(String(bugOf(codec.encodeFailure("boom" as never))), /Expected never/)
    assert.isDefined(bugOf(codec.decodeFailure({ content: [{ type: "text", text: "boom" }], isError: true })))
  })

  it("needs no JSON Schema", () => {
    const tool = Tool.make("find", {
      failure: Schema.transform(Schema.String, Schema.BigIntFromSelf, {
        decode: (s) => BigInt(s),
        encode: String
      })
    })
    assert.deepStrictEqual(Effect.runSync(tool.codec.encodeFailure(5n)).content, [{ type: "text", text: "5" }])
    assert.strictEqual(runSync(tool.codec.decodeFailure({ content: [{ type: "text", text: "5" }] })), 5n)
  })
})

describe("A tool without a success schema", () => {
  it("has a bug that says what it returned, when that is not a text", () => {
    const tool: Tool.Tool.Any = Tool.make("free")
    for (
      const [value, what] of [[["a"], "an array"], [{ a: 1 }, "a value of type object"], [1, "a value of type number"]]
    ) {
      assert.include(
        String(bugOf(tool.codec.encodeSuccess(value))),
        `this tool returned ${what}: declare a "success" schema`
      )
    }
  })
})
