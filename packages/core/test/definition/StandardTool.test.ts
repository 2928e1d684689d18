import { assert, describe, it } from "@effect/vitest"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as StandardTool from "@effect-mcp/core/StandardTool"
import * as Tool from "@effect-mcp/core/Tool"
import { Cause, Effect, Exit, Schema } from "effect"
import { expectTypeOf } from "vitest"
import { z } from "zod"

type Validate<Output> = StandardTool.StandardSchema<unknown, Output>["~standard"]["validate"]

const standard = <Input, Output>(
  validate: Validate<Output>,
  more: Partial<StandardTool.StandardSchema<Input, Output>["~standard"]> = {}
): StandardTool.StandardSchema<Input, Output> => ({ "~standard": { version: 1, vendor: "hand", validate, ...more } })

const inputSchema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] } as const

const isQuery = (u: unknown): u is { readonly q: string } =>
  typeof u === "object" && u !== null && "q" in u && typeof u.q === "string"

/** Written by hand: the length of a text. */
const check: Validate<{ readonly length: number }> = (u) =>
  isQuery(u)
    ? { value: { length: u.q.length } }
    : { issues: [{ message: "no text", path: ["q"] }, { message: "odd", path: [{ key: "a" }, 0] }, { message: "bad" }] }

const Length = standard<{ readonly q: string }, { readonly length: number }>(check)

const known = { input: () => inputSchema, output: () => ({ type: "object" }) }

describe("A standard tool", () => {
  it("advertises the JSON Schema that its parameters provide", () => {
    const targets: Array<string> = []
    const parameters = standard<unknown, number>(() => ({ value: 1 }), {
      jsonSchema: {
        input: ({ target }) => {
          targets.push(target)
          return { $schema: "https://json-schema.org/draft/2020-12/schema", ...inputSchema }
        },
        output: ({ target }) => {
          targets.push(target)
          return { type: "number" }
        }
      }
    })
    const tool = StandardTool.make("search", {
      title: "Search",
      description: "Full-text search.",
      parameters,
      success: parameters,
      annotations: { readOnlyHint: true }
    })
    assert.deepStrictEqual<unknown>(tool.advertised, {
      name: "search",
      title: "Search",
      description: "Full-text search.",
      inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...inputSchema },
      outputSchema: { type: "number" },
      annotations: { readOnlyHint: true }
    })
    assert.deepStrictEqual(targets, ["draft-2020-12", "draft-2020-12"])
    assert.isTrue(Tool.isTool(tool))
  })

  it("advertises the JSON Schema that is passed instead", () => {
    const given = { type: "object", description: "Given." }
    const parameters = standard(() => ({ value: 1 }), { jsonSchema: known })
    const tool = StandardTool.make("a", { parameters, inputSchema: given, success: parameters, outputSchema: given })
    assert.deepStrictEqual<unknown>([tool.advertised.inputSchema, tool.advertised.outputSchema], [given, given])
  })

  it("adds the type object to the JSON Schema of a union", () => {
    const anyOf = [inputSchema, { type: "object" }]
    const parameters = standard(() => ({ value: 1 }), { jsonSchema: { ...known, input: () => ({ anyOf }) } })
    assert.deepStrictEqual<unknown>(StandardTool.make("a", { parameters }).advertised.inputSchema, {
      type: "object",
      anyOf
    })
  })

  it("throws an error that names the tool, the schema and the problem", () => {
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length }),
      "Tool \"broken\": parameters provides no JSON Schema: pass one as `inputSchema`"
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length, inputSchema, success: Length }),
      "Tool \"broken\": success provides no JSON Schema: pass one as `outputSchema`"
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length, inputSchema, outputSchema: inputSchema }),
      "Tool \"broken\": outputSchema needs a success schema: pass `success` too"
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length, inputSchema: { type: "string" } }),
      `Tool "broken": inputSchema must have "type": "object", because arguments are an object`
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length, inputSchema: { type: "object", default: 1n } }),
      `Tool "broken": the JSON Schema of parameters is not a JSON Schema`
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: z.object({ at: z.date() }) }),
      `Tool "broken": parameters cannot be advertised as JSON Schema: pass one as \`inputSchema\`\nError: Date cannot be represented`
    )
    assert.throws(
      () => StandardTool.make("broken", { parameters: Length, inputSchema, success: z.date() }),
      `Tool "broken": success cannot be advertised as JSON Schema: pass one as \`outputSchema\`\nError: Date cannot`
    )
  })
})

describe("A standard tool's inference", () => {
  it("gives a handler the output of the parameters, and takes their input from a caller", () => {
    const tool = StandardTool.make("length", { parameters: Length, inputSchema })
    expectTypeOf(tool).toEqualTypeOf<
      Tool.Tool<"length", { readonly length: number }, { readonly q: string }, void, never>
    >()
    const Zod = StandardTool.make("zod", {
      parameters: z.object({ q: z.string(), limit: z.number().default(10) }),
      success: z.object({ hits: z.array(z.string()) })
    })
    expectTypeOf<Tool.Tool.Parameters<typeof Zod>>().toEqualTypeOf<{ q: string; limit: number }>()
    expectTypeOf<Tool.Tool.Arguments<typeof Zod>>().toEqualTypeOf<{ q: string; limit?: number | undefined }>()
    expectTypeOf<Tool.Tool.Success<typeof Zod>>().toEqualTypeOf<{ hits: Array<string> }>()
    expectTypeOf<Tool.Tool.Failure<typeof Zod>>().toBeNever()
    const OfEffect = StandardTool.make("effect", {
      parameters: Schema.standardSchemaV1(Schema.Struct({ n: Schema.NumberFromString })),
      inputSchema: { type: "object" }
    })
    expectTypeOf<Tool.Tool.Parameters<typeof OfEffect>>().toEqualTypeOf<{ readonly n: number }>()
    expectTypeOf<Tool.Tool.Arguments<typeof OfEffect>>().toEqualTypeOf<{ readonly n: string }>()
    // @ts-expect-error no Standard Schema
    assert.throws(() => StandardTool.make("odd", { parameters: { q: "string" } }))
    assert.deepStrictEqual([tool.name, Zod.name, OfEffect.name], ["length", "zod", "effect"])
  })
})

describe("The arguments of a standard tool", () => {
  it.effect("are validated by a schema written by hand", () =>
    Effect.gen(function*() {
      const { decodeArguments, encodeArguments } =
        StandardTool.make("length", { parameters: Length, inputSchema }).codec
      assert.deepStrictEqual(yield* decodeArguments({ q: "abc" }), { length: 3 })
      const args = { q: "abc" }
      assert.strictEqual<unknown>(yield* encodeArguments(args), args)
      for (const code of [decodeArguments, encodeArguments as typeof decodeArguments]) {
        assert.deepStrictEqual(Issue.places(yield* Effect.flip(code({}))), [
          { path: "q", message: "no text" },
          { path: "a.0", message: "odd" },
          { path: "", message: "bad" }
        ])
      }
    }))

  it.effect("are validated by a schema of Effect, now or later", () =>
    Effect.gen(function*() {
      const Later = Schema.transformOrFail(Schema.String, Schema.Number, {
        decode: (s) => Effect.delay(Effect.succeed(s.length), 1),
        encode: (n) => Effect.succeed("x".repeat(n))
      })
      const parameters = Schema.standardSchemaV1(Schema.Struct({ q: Later, n: Schema.Int }))
      const { decodeArguments } = StandardTool.make("later", { parameters, inputSchema }).codec
      const decoded = yield* Effect.promise(() => Effect.runPromise(decodeArguments({ q: "abc", n: 1 })))
      assert.deepStrictEqual(decoded, { q: 3, n: 1 })
      const issue = yield* Effect.flip(decodeArguments({ n: 1.5 }))
      assert.deepStrictEqual(Issue.places(issue).map(({ path }) => path), ["q", "n"])
    }))

  it.effect("are validated by zod, with its defaults", () =>
    Effect.gen(function*() {
      const parameters = z.object({ q: z.string(), limit: z.int().default(10) })
      const { advertised, codec } = StandardTool.make("zod", { parameters })
      assert.deepInclude(advertised.inputSchema, { type: "object", required: ["q"] })
      assert.deepStrictEqual(yield* codec.decodeArguments({ q: "x" }), { q: "x", limit: 10 })
      assert.deepStrictEqual<unknown>(yield* codec.encodeArguments({ q: "x" }), { q: "x" })
      assert.deepStrictEqual(
        Issue.places(yield* Effect.flip(codec.decodeArguments({ q: 1, limit: "x" }))).map(({ path }) => path),
        ["q", "limit"]
      )
    }))

  it.effect("are validated asynchronously where the schema does so", () =>
    Effect.gen(function*() {
      const parameters = standard((u) => Promise.resolve().then(() => check(u)))
      const { decodeArguments } = StandardTool.make("later", { parameters, inputSchema }).codec
      assert.deepStrictEqual(yield* decodeArguments({ q: "abc" }), { length: 3 })
      assert.lengthOf(Issue.places(yield* Effect.flip(decodeArguments({}))), 3)
    }))

  it.effect("are a defect when validation throws or rejects", () =>
    Effect.gen(function*() {
      const broken = new Error("broken")
      const checks: ReadonlyArray<Validate<unknown>> = [
        () => {
          throw broken
        },
        () => Promise.reject(broken)
      ]
      for (const check of checks) {
        const { decodeArguments } = StandardTool.make("broken", { parameters: standard(check), inputSchema }).codec
        const exit = yield* Effect.exit(decodeArguments({}))
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
        assert.strictEqual(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, broken)
      }
    }))

  it.effect("are refused when there is a list of issues, even an empty one", () =>
    Effect.gen(function*() {
      const parameters = standard(() => ({ issues: [] }))
      const { decodeArguments } = StandardTool.make("mute", { parameters, inputSchema }).codec
      assert.strictEqual(Issue.sentence(yield* Effect.flip(decodeArguments({}))), "does not conform")
    }))
})

describe("The success of a standard tool", () => {
  it.effect("is validated on both sides, and is structured content and text", () =>
    Effect.gen(function*() {
      const { codec } = StandardTool.make("zod", {
        parameters: z.object({}),
        success: z.object({ hits: z.array(z.string()) })
      })
      const result = yield* codec.encodeSuccess({ hits: ["a"] })
      assert.deepStrictEqual<unknown>(result, {
        content: [{ type: "text", text: `{"hits":["a"]}` }],
        structuredContent: { hits: ["a"] }
      })
      assert.deepStrictEqual(yield* codec.decodeSuccess(result), { hits: ["a"] })
      yield* Effect.flip(codec.decodeSuccess({ content: [], structuredContent: { hits: [1] } }))
      const exit = yield* Effect.exit(codec.encodeSuccess({ hits: [1] } as never))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
    }))

  it.effect("is content only without a success schema", () =>
    Effect.gen(function*() {
      const { codec } = StandardTool.make("tell", { parameters: Length, inputSchema })
      assert.deepStrictEqual<unknown>(yield* codec.encodeSuccess("hi"), { content: [{ type: "text", text: "hi" }] })
    }))
})
