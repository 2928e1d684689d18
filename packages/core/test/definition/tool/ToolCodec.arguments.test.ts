import { assert, describe, it } from "@effect/vitest"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Either, Schema } from "effect"
import * as EffectParser from "../../../src/protocol/schema/EffectParser.js"

// An issue holds whole schemas: printing one takes minutes.
const toError = (issue: EffectParser.ParseIssue): Error => new EffectParser.ParseError({ issue })

const test = (name: string, run: () => Effect.Effect<void, EffectParser.ParseIssue>): void =>
  it.effect(name, () => Effect.mapError(run(), toError))

describe("Tool's arguments", () => {
  const Search = Tool.make("search", {
    parameters: { q: Schema.NonEmptyString, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) }
  })

  test("are decoded with their defaults, without members that the schema does not name", () =>
    Effect.gen(function*() {
      const { decodeArguments } = Search.codec
      assert.deepStrictEqual(yield* decodeArguments({ q: "x" }), { q: "x", limit: 10 })
      assert.deepStrictEqual(yield* decodeArguments({ q: "x", limit: 5, more: 1 }), { q: "x", limit: 5 })
      for (const args of [{}, { q: "" }, { q: "x", limit: 1.5 }, { q: 1 }, [], "x", null]) {
        assert.isTrue(Either.isLeft(yield* Effect.either(decodeArguments(args))), JSON.stringify(args))
      }
    }))

  test("are all named when they are wrong, plain data or not", () =>
    Effect.gen(function*() {
      const places = (effect: Effect.Effect<unknown, EffectParser.ParseIssue>) =>
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

  test("are checked to the first error when they are large", () =>
    Effect.gen(function*() {
      const { codec } = Tool.make("many", { parameters: { items: Schema.Array(Schema.String) } })
      const issues = (length: number) =>
        Effect.match(codec.decodeArguments({ items: Array.from({ length }, () => 0) }), {
          onFailure: (issue) => EffectParser.places(issue, false).length,
          onSuccess: () => 0
        })
      // As many as a message names.
      assert.strictEqual(yield* issues(100), 10)
      assert.strictEqual(yield* issues(1_000), 1)
      assert.deepStrictEqual(yield* codec.decodeArguments({ items: Array.from({ length: 1_000 }, () => "") }), {
        items: Array.from({ length: 1_000 }, () => "")
      })
    }))

  test("are encoded with defaults filled in", () =>
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

  test("are never the same objects", () =>
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

  test("may be decoded by an effect", () =>
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

  test("of a class are decoded to instances, and may be passed as plain objects", () =>
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
