import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Issue from "../../src/schema/Issue.js"

const issue = <A, I>(schema: Schema.Schema<A, I>, value: unknown, all = true): ParseResult.ParseIssue =>
  Either.getOrThrow(Either.flip(ParseResult.decodeUnknownEither(schema)(value, { errors: all ? "all" : "first" })))

const Search = Schema.Struct({
  q: Schema.String,
  limit: Schema.optional(Schema.Int),
  tags: Schema.optional(Schema.Array(Schema.String))
})

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

describe("Issue", () => {
  it("says where and why, on one line", () => {
    expect(Issue.sentence(issue(Search, { limit: 1.5, tags: ["x", 1] }))).toBe(
      "q: is missing; limit: Expected an integer, actual 1.5; tags.1: Expected string, actual 1"
    )
    expect(Issue.sentence(issue(Search, 5, false))).toMatch(/^Expected \{.*\}, actual 5$/)
  })

  it("does not say that an optional field could be nothing", () => {
    expect(Issue.places(issue(Search, { q: "x", limit: "many" }))).toEqual([
      { path: "limit", message: "Expected number, actual \"many\"" }
    ])
  })

  it("says what the schema says, if it does", () => {
    const even = Schema.Number.pipe(Schema.filter((n) => n % 2 === 0, { message: () => "must be even" }))
    expect(Issue.sentence(issue(Schema.Struct({ n: even }), { n: 1 }))).toBe("n: must be even")
  })

  it("says little about much", () => {
    const [place] = Issue.places(issue(Search, { q: { big: "x".repeat(1_000_000) } }))
    expect(place!.message.length).toBeLessThanOrEqual(201)
    const many = Schema.Struct(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, Schema.String])))
    expect(Issue.places(issue(many, {})).length).toBe(10)
  })

  it("does not follow a peer into the depths", () => {
    expect(Issue.places(issue(Search, { q: nested(10_000) }))).toEqual([
      { path: "q", message: "Expected string, actual a value nested more than 64 levels deep" }
    ])
    expect(Issue.places(issue(Search, { q: nested(10) }))[0]!.message).toContain("actual {\"a\":")
    const tagged = Schema.Struct({
      it: Schema.Union(
        Schema.Struct({ type: Schema.Literal("a") }),
        Schema.Struct({ type: Schema.Literal("b"), b: Schema.NonEmptyString })
      )
    })
    expect(Issue.places(issue(tagged, { it: { type: "b", b: nested(10_000) } }))[0]!.path).toBe("it.b")
    expect(Issue.places(issue(Schema.Struct({ a: Schema.Int, b: Schema.Int }), { a: nested(10_000) })).length).toBe(2)
  })
})
