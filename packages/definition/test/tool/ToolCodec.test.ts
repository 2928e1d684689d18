import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect-mcp/definition/Tool"
import * as ToolResult from "@effect-mcp/definition/ToolResult"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import { Arbitrary, Cause, Effect, Either, Exit, FastCheck as fc, ParseResult, Schema } from "effect"

/** What the peer hears of it: text, and nothing that has no text. */
const onWire = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** The result as a peer hears it that has no structured content. */
const wordsOnly = ({ structuredContent: _, ...rest }: Tools.CallToolResult): Tools.CallToolResult => rest

// An issue holds whole schemas, and takes whoever prints it minutes.
const inWords = (issue: ParseResult.ParseIssue): Error => new Error(ParseResult.TreeFormatter.formatIssueSync(issue))

const tells = (what: string, test: () => Effect.Effect<void, ParseResult.ParseIssue>): void =>
  it.effect(what, () => Effect.mapError(test(), inWords))

const now = <A>(effect: Effect.Effect<A, ParseResult.ParseIssue>): A => Effect.runSync(Effect.mapError(effect, inWords))

const succeed = (tool: Tool.Tool.Any, value: unknown) => Effect.runSync(tool.codec.encodeSuccess(value))

const bugOf = (effect: Effect.Effect<unknown, unknown>): unknown => {
  const exit = Effect.runSyncExit(effect)
  return Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
}

const When = Schema.Struct({ at: Schema.Date, note: Schema.optionalWith(Schema.String, { exact: true }) })

describe("Tool's arguments", () => {
  const Search = Tool.make("search", {
    parameters: { q: Schema.NonEmptyString, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) }
  })

  tells("are decoded with their defaults; what is not named is left out", () =>
    Effect.gen(function*() {
      const { decodeArguments } = Search.codec
      assert.deepStrictEqual(yield* decodeArguments({ q: "x" }), { q: "x", limit: 10 })
      assert.deepStrictEqual(yield* decodeArguments({ q: "x", limit: 5, more: 1 }), { q: "x", limit: 5 })
      for (const args of [{}, { q: "" }, { q: "x", limit: 1.5 }, { q: 1 }, [], "x", null]) {
        assert.isTrue(Either.isLeft(yield* Effect.either(decodeArguments(args))), JSON.stringify(args))
      }
    }))

  tells("that are wrong are all named, plain data or not", () =>
    Effect.gen(function*() {
      const places = (effect: Effect.Effect<unknown, ParseResult.ParseIssue>) =>
        Effect.match(effect, {
          onFailure: (issue) => Issue.places(issue).map(({ path }) => path),
          onSuccess: () => []
        })
      const When = Tool.make("when", {
        parameters: {
          q: Schema.String,
          n: Schema.NumberFromString,
          at: Schema.Struct({ x: Schema.Int, y: Schema.Int })
        }
      })
      const { decodeArguments } = Search.codec
      assert.deepStrictEqual(yield* places(decodeArguments({ limit: 1.5 })), ["q", "limit"])
      assert.deepStrictEqual(yield* places(When.codec.decodeArguments({ n: "x", at: { x: "1", y: 1 } })), [
        "q",
        "n",
        "at.x"
      ])
      assert.deepStrictEqual(
        yield* places(When.codec.encodeArguments({ q: 1, n: "1", at: { x: 1.5 } } as never)),
        ["q", "n", "at.x", "at.y"]
      )
    }))

  tells("that are many and wrong are not all looked at", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("many", { parameters: { items: Schema.Array(Schema.String) } })
      const issues = (length: number) =>
        Effect.match(codec.decodeArguments({ items: Array.from({ length }, () => 0) }), {
          onFailure: (issue) => ParseResult.ArrayFormatter.formatIssueSync(issue).length,
          onSuccess: () => 0
        })
      assert.strictEqual(yield* issues(100), 100)
      assert.strictEqual(yield* issues(1_000), 1)
      assert.deepStrictEqual(yield* codec.decodeArguments({ items: Array.from({ length: 1_000 }, () => "") }), {
        items: Array.from({ length: 1_000 }, () => "")
      })
    }))

  tells("are encoded as a caller gives them, defaults filled in", () =>
    Effect.gen(function*() {
      const { encodeArguments } = Search.codec
      assert.deepStrictEqual(yield* encodeArguments({ q: "x" }), { q: "x", limit: 10 })
      assert.isTrue(Either.isLeft(yield* Effect.either(encodeArguments({ q: "" }))))
      const Filtered = Schema.Struct({ a: Schema.optional(Schema.Int) }).pipe(Schema.filter(() => true))
      const Bag = Schema.Record({ key: Schema.String, value: Schema.Int })
      for (const parameters of [Schema.Struct({}), Filtered, Bag]) {
        const none = Tool.make("none", { parameters }).codec.encodeArguments(undefined as never)
        assert.deepStrictEqual<unknown>(yield* none, {})
      }
    }))

  tells("are never the objects that they were made of", () =>
    Effect.gen(function*() {
      const Plain = Tool.make("plain", { parameters: { tags: Schema.Array(Schema.String) } })
      const given = { tags: ["a"] }
      for (const codec of [Plain.codec.decodeArguments, Plain.codec.encodeArguments]) {
        const made = (yield* codec(given)) as typeof given
        assert.deepStrictEqual(made, given)
        assert.notStrictEqual(made, given)
        assert.notStrictEqual(made.tags, given.tags)
      }
    }))

  tells("may be decoded by an effect", () =>
    Effect.gen(function*() {
      const Known = Schema.transformOrFail(Schema.String, Schema.String, {
        decode: (s) => Effect.as(Effect.yieldNow(), s.toUpperCase()),
        encode: (s) => Effect.as(Effect.yieldNow(), s.toLowerCase())
      })
      const { codec } = Tool.make("known", { parameters: { name: Known } })
      assert.deepStrictEqual(yield* codec.decodeArguments({ name: "ada" }), { name: "ADA" })
      assert.deepStrictEqual(yield* codec.encodeArguments({ name: "ADA" }), { name: "ada" })
      assert.isTrue(Either.isLeft(yield* Effect.either(codec.decodeArguments({ name: 1 }))))
    }))

  tells("of a class come as instances of it, and are given as plain objects", () =>
    Effect.gen(function*() {
      class Point extends Schema.Class<Point>("Point")({
        x: Schema.NumberFromString,
        y: Schema.optionalWith(Schema.Number, { default: () => 0 })
      }) {}
      const { codec } = Tool.make("at", { parameters: Point })
      assert.instanceOf(yield* codec.decodeArguments({ x: "1" }), Point)
      assert.deepStrictEqual(yield* codec.encodeArguments({ x: 1 }), { x: "1", y: 0 })
      assert.deepStrictEqual(yield* codec.encodeArguments(new Point({ x: 1, y: 2 })), { x: "1", y: 2 })
    }))
})

describe("A result that says that the tool failed", () => {
  it("goes out as it is, whatever the tool promises of its success", () => {
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

  it("is text as it is where it is always a string", () => {
    assert.deepStrictEqual(succeed(Tool.make("s", { success: Schema.String }), "a \"b\""), {
      content: [{ type: "text", text: "a \"b\"" }],
      structuredContent: "a \"b\""
    })
    assert.deepStrictEqual(succeed(Tool.make("s", { success: Schema.NullOr(Schema.String) }), "a").content, [
      { type: "text", text: `"a"` }
    ])
  })

  it("is text, content or nothing where none is declared", () => {
    const tool = Tool.make("tell")
    assert.deepStrictEqual(succeed(tool, "hi"), { content: [{ type: "text", text: "hi" }] })
    assert.deepStrictEqual(succeed(tool, undefined), { content: [] })
    assert.deepStrictEqual(succeed(tool, ToolResult.image("", "image/png")), {
      content: [{ type: "image", data: "", mimeType: "image/png" }]
    })
    assert.deepStrictEqual(succeed(Tool.make("void", { success: Schema.Void }), undefined), { content: [] })
  })

  it("is any kind of content beside structured content and a meta", () => {
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

  it("SHOULD be told in words too when it is structured content without a text", () => {
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
    const said = at(ToolResult.text(""))
    assert.deepStrictEqual<unknown>(succeed(tool, said), { content: said.content, structuredContent })
    const named = Tool.make("named", { success: Schema.String })
    assert.deepStrictEqual<unknown>(succeed(named, picture.pipe(ToolResult.withStructured("a \"b\""))).content, [
      ...picture.content,
      { type: "text", text: "a \"b\"" }
    ])
  })

  it("MUST be there when an output schema is advertised: a result without it is a bug of the handler", () => {
    const tool = Tool.make("when", { success: When })
    assert.match(
      String(bugOf(tool.codec.encodeSuccess(ToolResult.text("soon") as never))),
      /Expected .* actual undefined/
    )
  })

  it("is a bug of the handler when it is not what was declared", () => {
    const tool = Tool.make("when", { success: When })
    assert.match(String(bugOf(tool.codec.encodeSuccess({ at: "yesterday" } as never))), /Expected DateFromSelf/)
    assert.match(String(bugOf(tool.codec.encodeSuccess(new ToolResult.ToolResult([], 1) as never))), /Expected/)
    const anything = Tool.make("anything", { success: Schema.Unknown })
    assert.throws(() => anything.codec.encodeSuccess(1n), "The value of a tool has no JSON form")
    assert.throws(() => anything.codec.encodeSuccess(undefined), "The value of a tool has no JSON form")
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
        fc.property(Arbitrary.make(success), (value) => {
          const result = onWire(succeed(tool, value))
          for (const heard of [result, wordsOnly(result)]) {
            const decoded = Effect.runSync(Effect.either(tool.codec.decodeSuccess(heard)))
            assert.isTrue(Either.isRight(decoded) && same(decoded.right, value), `${success}: ${JSON.stringify(heard)}`)
          }
        }),
        { numRuns: 50 }
      )
    }
  })

  tells("is read from the first text where there is no structured content", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("when", { success: When })
      const content: Tools.CallToolResult["content"] = [
        { type: "image", data: "", mimeType: "image/png" },
        { type: "text", text: `{"at":"1970-01-01T00:00:00.000Z"}` },
        { type: "text", text: "{}" }
      ]
      assert.deepStrictEqual(yield* codec.decodeSuccess({ content }), { at: new Date(0) })
    }))

  tells("that is none of the declared ones does not decode", () =>
    Effect.gen(function*() {
      const { decodeSuccess } = Tool.make("when", { success: When }).codec
      const heard: ReadonlyArray<Tools.CallToolResult> = [
        { content: [] },
        { content: [{ type: "text", text: "not JSON" }] },
        { content: [{ type: "text", text: "{}" }] },
        { content: [], structuredContent: { at: 1 } },
        { content: [{ type: "image", data: "", mimeType: "image/png" }] }
      ]
      for (const result of heard) assert.isTrue(Either.isLeft(yield* Effect.either(decodeSuccess(result))))
      const raw: Tools.CallToolResult = { content: [], _meta: { a: 1 } }
      assert.strictEqual<unknown>(yield* Tool.make("tell").codec.decodeSuccess(raw), raw)
    }))
})

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String, at: Schema.Date }) {}

describe("Tool's failure", () => {
  tells("is told to the model, and comes back as what it was", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("find", { failure: NotFound })
      const result = onWire(yield* codec.encodeFailure(new NotFound({ q: "x", at: new Date(0) })))
      assert.deepStrictEqual(result, {
        content: [{ type: "text", text: `{"q":"x","at":"1970-01-01T00:00:00.000Z","_tag":"NotFound"}` }],
        isError: true
      })
      const decoded = yield* codec.decodeFailure(result)
      assert.instanceOf(decoded, NotFound)
      assert.strictEqual(decoded.q, "x")
    }))

  it("that is a string stays the string it is, whatever is in it", () => {
    const { codec } = Tool.make("find", { failure: Schema.String })
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.constantFrom("5", `"quoted"`, "null", "")), (failure) => {
        const result = onWire(Effect.runSync(codec.encodeFailure(failure)))
        assert.deepStrictEqual(result.content, [{ type: "text", text: failure }])
        assert.strictEqual(now(codec.decodeFailure(result)), failure)
      })
    )
  })

  it("that is a string or something else is told as JSON, and comes back", () => {
    const failure = Schema.Union(Schema.String, Schema.Struct({ code: Schema.Int }))
    const { codec } = Tool.make("find", { failure })
    fc.assert(
      fc.property(fc.oneof(Arbitrary.make(failure), fc.json()), (value) => {
        const result = onWire(Effect.runSync(codec.encodeFailure(value)))
        assert.deepStrictEqual(now(codec.decodeFailure(result)), value)
      })
    )
    // Another server may have told it in its own way.
    const heard: Tools.CallToolResult = { content: [{ type: "text", text: "not found" }], isError: true }
    assert.strictEqual(now(codec.decodeFailure(heard)), "not found")
  })

  it("that was not declared is a bug of the handler", () => {
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
    assert.strictEqual(now(tool.codec.decodeFailure({ content: [{ type: "text", text: "5" }] })), 5n)
  })
})
