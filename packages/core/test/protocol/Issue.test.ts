import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as EffectParser from "../../src/protocol/schema/EffectParser.js"

const issue = <A, I>(schema: Schema.Schema<A, I>, value: unknown, all = true) =>
  Either.getOrThrow(Either.flip(EffectParser.decodeUnknownEither(schema)(value, { errors: all ? "all" : "first" })))

const Search = Schema.Struct({
  q: Schema.String,
  limit: Schema.optional(Schema.Int),
  tags: Schema.optional(Schema.Array(Schema.String))
})

const Page = Schema.Struct({ q: Schema.String, page: Schema.optional(Schema.Number) })

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

describe("Issue", () => {
  it("reports where and why, on one line", () => {
    expect(Issue.sentence(issue(Search, { limit: 1.5, tags: ["x", 1] }))).toBe(
      "q: is missing; limit: Expected an integer, actual 1.5; tags.1: Expected string, actual 1"
    )
    expect(Issue.sentence(issue(Search, 5, false))).toMatch(/^Expected \{.*\}, actual 5$/)
  })

  it("does not report `undefined` as a type of an optional field", () => {
    expect(Issue.places(issue(Page, { q: "x", page: "many" }))).toEqual([
      { path: "page", message: "Expected number, actual \"many\"" }
    ])
  })

  it("uses the message of a filter that has one", () => {
    const even = Schema.Number.pipe(Schema.filter((n) => n % 2 === 0, { message: () => "must be even" }))
    expect(Issue.sentence(issue(Schema.Struct({ n: even }), { n: 1 }))).toBe("n: must be even")
  })

  it("limits the length of a message and the number of places", () => {
    const [place] = Issue.places(issue(Search, { q: { big: "x".repeat(1_000_000) } }))
    expect(place!.message.length).toBeLessThanOrEqual(201)
    const many = Schema.Struct(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, Schema.String])))
    expect(Issue.places(issue(many, {})).length).toBe(10)
  })

  it("does not format a value that is nested 10,000 levels deep", () => {
    expect(Issue.places(issue(Search, { q: nested(10_000) }))).toEqual([
      { path: "q", message: "Expected string, actual an object" }
    ])
    const tagged = Schema.Struct({
      it: Schema.Union(
        Schema.Struct({ type: Schema.Literal("a") }),
        Schema.Struct({ type: Schema.Literal("b"), b: Schema.NonEmptyString })
      )
    })
    expect(Issue.places(issue(tagged, { it: { type: "b", b: nested(10_000) } }))[0]!.path).toBe("it.b")
    expect(Issue.places(issue(Schema.Struct({ a: Schema.Int, b: Schema.Int }), { a: nested(10_000) })).length).toBe(2)
  })

  it("names the kind of the actual value, and quotes only short ones", () => {
    const refused: ReadonlyArray<readonly [unknown, string]> = [
      [{}, "an object"],
      [new Date(), "an object"],
      [[], "an array"],
      [null, "null"],
      [undefined, "undefined"],
      [1.5, "1.5"],
      [NaN, "NaN"],
      [true, "true"],
      [1n, "a bigint"],
      [Symbol("s"), "a symbol"],
      [() => 1, "a function"],
      ["x".repeat(40), `"${"x".repeat(40)}"`],
      ["x".repeat(41), "a string of 41 characters"],
      ["two\nlines", `"two\\nlines"`]
    ]
    for (const [value, kind] of refused) {
      expect(Issue.sentence(issue(Schema.Never, value))).toBe(`Expected never, actual ${kind}`)
    }
  })

  it("returns the sentence and the places of one walk", () => {
    const { places, sentence } = Issue.explain(issue(Page, { page: "x" }))
    expect(places).toEqual([
      { path: "q", message: "is missing" },
      { path: "page", message: `Expected number, actual "x"` }
    ])
    expect(sentence).toBe(`q: is missing; page: Expected number, actual "x"`)
  })

  it("lists what the members of a union expect once", () => {
    const either = Schema.Struct({
      a: Schema.optional(Schema.Union(Schema.String, Schema.Number, Schema.Null))
    })
    expect(Issue.sentence(issue(either, { a: {} }))).toBe(`a: Expected string | number | null, actual an object`)
    const level = Schema.Literal("debug", "info", "error")
    expect(Issue.sentence(issue(level, []))).toBe(`Expected "debug" | "info" | "error", actual an array`)
    const deeper = Schema.Union(Schema.Struct({ a: Schema.Struct({ b: Schema.Int }) }), Schema.String)
    expect(Issue.sentence(issue(deeper, { a: {} }))).toBe("Expected string, actual an object; a.b: is missing")
    expect(Issue.sentence(issue(Schema.Union(Schema.NumberFromString, Schema.Boolean), null))).toBe(
      "Expected string | boolean, actual null"
    )
    expect(Issue.sentence(issue(Schema.Undefined, 1))).toBe("Expected undefined, actual 1")
  })

  it("uses the messages and titles of the schema's author", () => {
    const positive = Schema.Number.pipe(Schema.positive())
    const sentenceOf = (schema: Schema.Schema<any, any>, value: unknown = "x") => Issue.sentence(issue(schema, value))
    expect(sentenceOf(positive, -1)).toBe("Expected a positive number, actual -1")
    expect(sentenceOf(positive.annotations({ message: () => "above zero" }), -1)).toBe("above zero")
    // The message of an outer schema applies only to what that schema refuses, unless it overrides.
    expect(sentenceOf(positive.annotations({ message: () => "above zero" }))).toBe(`Expected number, actual "x"`)
    expect(sentenceOf(positive.annotations({ message: () => ({ message: "above zero", override: true }) }))).toBe(
      "above zero"
    )
    const Point = Schema.Struct({ x: Schema.Number })
    expect(sentenceOf(Point.annotations({ message: () => "a point" }), {})).toBe("x: is missing")
    expect(sentenceOf(Point.annotations({ message: () => ({ message: "a point", override: true }) }), {})).toBe(
      "a point"
    )
    expect(sentenceOf(Schema.Number.annotations({ message: () => Effect.succeed("a number") }))).toBe("a number")
    const late = Effect.as(Effect.sleep("1 second"), "late")
    expect(sentenceOf(Schema.Number.annotations({ message: () => late }))).toBe(`Expected number, actual "x"`)
    expect(sentenceOf(Schema.Number.annotations({ parseIssueTitle: () => "the title" }))).toBe("the title")
    const field = Schema.propertySignature(Schema.Number).annotations({ missingMessage: () => "please" })
    expect(sentenceOf(Schema.Struct({ n: field }), {})).toBe("n: please")
    expect(sentenceOf(Schema.NumberFromString)).toMatch(/^Unable to decode "x"/)
    expect(sentenceOf(Schema.NumberFromString.annotations({ message: () => "digits" }))).toBe("digits")
    expect(sentenceOf(Schema.Union(Schema.Number.annotations({ message: () => "a number" }), Schema.Boolean))).toBe(
      `Expected boolean, actual "x"; a number`
    )
  })

  it("reports what must not be present", () => {
    const strict = Search.annotations({ parseOptions: { onExcessProperty: "error" } })
    expect(Issue.sentence(issue(strict, { q: "x", more: 1 }))).toMatch(/^more: is unexpected, expected: /)
  })
})

describe("The cost of an issue does not depend on the value: a walk", () => {
  /** A value that counts how often anything is looked up in it. */
  const watched = (value: object) => {
    const looks = { count: 0 }
    const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"] as const
    const handler = Object.fromEntries(traps.map((trap) => [trap, (...args: ReadonlyArray<any>) => {
      looks.count++
      return (Reflect[trap] as any)(...args)
    }]))
    return { looks, value: new Proxy(value, handler) }
  }
  const Level = Schema.Struct({ level: Schema.Literal("debug", "info", "error"), n: Schema.optional(Schema.Number) })

  it.each<readonly [string, () => object]>([
    ["an object of 380,000 keys", () => Object.fromEntries(Array.from({ length: 380_000 }, (_, i) => [`key-${i}`, i]))],
    ["an array of 400,000 objects", () => Array.from({ length: 400_000 }, () => ({}))],
    ["an object that is 10,000 levels deep", () => nested(10_000) as object]
  ])("never looks into %s", (_, make) => {
    const { looks, value } = watched(make())
    const refused = issue(Level, { level: value, n: value })
    looks.count = 0
    const kind = Array.isArray(value) ? "an array" : "an object"
    expect(Issue.sentence(refused)).toBe(
      `level: Expected "debug" | "info" | "error", actual ${kind}; n: Expected number, actual ${kind}`
    )
    expect(looks.count).toBe(0)
  })

  it("calls no function of the value", () => {
    const fail = () => expect.fail("called")
    const value = { toString: fail, toJSON: fail, valueOf: fail, [Symbol.toPrimitive]: fail }
    expect(Issue.places(issue(Level, { level: value })).length).toBe(1)
  })

  it("cuts keys that are too long, and paths of too many keys", () => {
    const record = Schema.Record({ key: Schema.String, value: Schema.String })
    const [place] = Issue.places(issue(record, { ["k".repeat(1_000_000)]: 1 }))
    expect(place).toEqual({ path: `${"k".repeat(200)}…`, message: "Expected string, actual 1" })
  })
})
