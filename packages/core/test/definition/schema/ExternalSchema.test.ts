import { assert, describe, it } from "@effect/vitest"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import { Effect, Either, FastCheck as fc, Schema } from "effect"
import * as ExternalSchema from "../../../src/definition/schema/ExternalSchema.js"
import * as EffectParser from "../../../src/protocol/schema/EffectParser.js"

const { copy, limits, toIssue } = ExternalSchema

const leavesOf = (issue: EffectParser.ParseIssue): number =>
  issue._tag === "Composite" && Array.isArray(issue.issues) ? issue.issues.length : 1

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

describe("The errors of an external schema", () => {
  it("become one issue with each place, as Effect's own would", () => {
    const issue = toIssue(
      [{ path: ["hits", 0, "title"], message: "is missing" }, { path: [], message: "is odd" }],
      { hits: [{}] }
    )
    assert.deepStrictEqual(Issue.places(issue), [
      { path: "hits.0.title", message: "is missing" },
      { path: "", message: "is odd" }
    ])
    assert.strictEqual(new EffectParser.ParseError({ issue }).message.includes("is missing"), true)
  })

  it("become an issue also when there are none", () => {
    assert.strictEqual(Issue.sentence(toIssue([], 1)), "does not conform")
  })

  it("are reported up to a limit", () => {
    const errors = Array.from({ length: 100_000 }, (_, i) => ({ path: [i], message: "is odd" }))
    const issue = toIssue(errors, [])
    assert.strictEqual(leavesOf(issue), limits.errors)
  })

  it("carry the value at the place, and no inherited value", () => {
    const issue = toIssue([{ path: ["a", "b"], message: "is odd" }, { path: ["constructor"], message: "is odd" }], {
      a: { b: 1 }
    })
    const actual = issue._tag === "Composite" && Array.isArray(issue.issues)
      ? issue.issues.map((one) => one._tag === "Pointer" && one.issue._tag === "Type" ? one.issue.actual : "none")
      : []
    assert.deepStrictEqual(actual, [1, undefined])
  })
})

describe("A schema of two functions", () => {
  it.effect("decodes with the first and encodes with the second, now or later", () =>
    Effect.gen(function*() {
      const schema = ExternalSchema.make<number>({
        decode: (u) => typeof u === "string" ? Effect.succeed(u.length) : Effect.fail(toIssue([], u)),
        encode: (u) => Effect.as(Effect.yieldNow(), `${u}`)
      })
      assert.strictEqual(yield* EffectParser.decodeUnknown(schema)("abc"), 3)
      assert.strictEqual(yield* EffectParser.encodeUnknown(schema)(3), "3")
      yield* Effect.flip(EffectParser.decodeUnknown(schema)(1))
      assert.isTrue(Schema.isSchema(schema))
    }))
})

describe("A JSON Schema that is copied", () => {
  it("is equal, and does not change with the original", () => {
    const original = { $schema: "x", $defs: { a: { $anchor: "a", enum: [1] } }, additionalProperties: false }
    const copied = Either.getOrThrow(copy(original))
    assert.deepStrictEqual<unknown>(copied, original)
    original.additionalProperties = true
    assert.isFalse(copied.additionalProperties)
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
      fc.pre(!JSON.stringify(schema).includes("__proto__"))
      assert.deepStrictEqual(copy(schema), Either.right(JSON.parse(JSON.stringify(schema))))
    }))
  })

  it("is refused when it is not JSON, or exceeds a limit", () => {
    const loop: Record<string, unknown> = {}
    loop.self = loop
    const no = "is not a JSON Schema: it must be an object that JSON can represent"
    for (const odd of [undefined, null, true, 1, "{}", [], loop, { n: 1n }, { toJSON: () => 1 }]) {
      assert.deepStrictEqual(copy(odd), Either.left(no))
    }
    assert.isTrue(Either.isRight(copy(nested(limits.depth))))
    assert.deepStrictEqual(copy(nested(limits.depth + 1)), Either.left("is nested more than 56 levels deep"))
    assert.deepStrictEqual(
      copy({ description: "x".repeat(limits.size) }),
      Either.left("is longer than 262144 characters")
    )
    assert.deepStrictEqual(
      copy({ properties: JSON.parse(`{"__proto__":{}}`) }),
      Either.left(`has a member named "__proto__"`)
    )
  })
})
