import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Projection from "../../../src/protocol/schema/Projection.js"
import { limitedUntil, replacedBefore, rewritten, since, until } from "../../../src/protocol/schema/Since.js"

const A = "2024-11-05"
const E = "2026-07-28"

const Inner = Schema.Struct({ old: Schema.String, fresh: since("2025-06-18", Schema.optional(Schema.Number)) })
const Old = Schema.Struct({ type: Schema.Literal("old"), by: Schema.optional(Inner) })
const Fresh = replacedBefore(
  "2025-03-26",
  Schema.Struct({ type: Schema.Literal("fresh"), by: Schema.optional(Inner) }),
  ({ by }): typeof Old.Type => ({ type: "old", by })
)
const Outer = Schema.Struct({
  list: Schema.Array(Schema.Union(Old, Fresh)),
  map: Schema.optional(Schema.Record({ key: Schema.String, value: Inner })),
  gone: until("2025-11-25", Schema.optional(Schema.String)),
  even: limitedUntil(A, (value) => (value as number) % 2 === 0, Schema.optional(Schema.Number)),
  words: rewritten(
    { until: A },
    (words: ReadonlyArray<string>) => words.length < 2 ? words : [words.join(" ")],
    Schema.propertySignature(Schema.Array(Schema.String))
  )
})

const value = {
  list: [{ type: "old", by: { old: "x", fresh: 1 } }, { type: "fresh", by: { old: "y", fresh: 2 } }],
  map: { a: { old: "z", fresh: 3 } },
  gone: "soon",
  even: 3,
  words: ["a", "b"],
  more: { fresh: 1 }
} as const

describe("Projection", () => {
  it("sends a peer only what its revision knows", () => {
    expect(Projection.compile(Outer, A)(value)).toEqual({
      list: [{ type: "old", by: { old: "x" } }, { type: "old", by: { old: "y" } }],
      map: { a: { old: "z" } },
      gone: "soon",
      words: ["a b"],
      more: { fresh: 1 }
    })
    expect(Projection.compile(Outer, E)(value)).toEqual({ ...value, gone: undefined })
  })

  it("does not change its argument", () => {
    const before = JSON.stringify(value)
    Projection.compile(Outer, A)(value)
    expect(JSON.stringify(value)).toBe(before)
  })

  it("returns an unchanged value, or part of one, as the same object", () => {
    const plain = { list: [{ type: "old", by: { old: "x" } }], words: ["a"] } as const
    expect(Projection.compile(Outer, A)(plain)).toBe(plain)
    const mixed = { ...plain, gone: "x" }
    expect((Projection.compile(Outer, E)(mixed) as typeof mixed).list).toBe(mixed.list)
  })

  it("is compiled once for a schema and a revision", () => {
    expect(Projection.compile(Outer, A)).toBe(Projection.compile(Outer, A))
    expect(Projection.compile(Outer, A)).not.toBe(Projection.compile(Outer, E))
  })

  it("supports recursive types", () => {
    interface Tree {
      readonly fresh?: string | undefined
      readonly inner: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({
      fresh: since("2025-06-18", Schema.optional(Schema.String)),
      inner: Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree))
    })
    const narrow = Projection.compile(Tree, A)
    expect(narrow({ fresh: "a", inner: [{ fresh: "b", inner: [] }] })).toEqual({ inner: [{ inner: [] }] })
  })

  it("does not turn a member named __proto__ into a prototype", () => {
    const poisoned = JSON.parse("{\"__proto__\":{\"polluted\":true},\"gone\":\"x\",\"list\":[],\"words\":[]}") as never
    const narrowed = Projection.compile(Outer, E)(poisoned) as object
    expect(Object.getPrototypeOf(narrowed)).toBe(Object.prototype)
    expect(Object.keys(narrowed)).toContain("__proto__")
  })
})
