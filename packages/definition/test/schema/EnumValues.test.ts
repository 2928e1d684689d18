import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Schema } from "effect"
import * as EnumValues from "../../src/schema/EnumValues.js"

enum Size {
  small = "S",
  large = "L"
}

enum Level {
  low,
  high
}

const choicesOf = (field: Schema.Struct.Field) => EnumValues.make(Schema.Struct({ field })).get("field")

describe("The choices of a field", () => {
  it("are those of a literal, a union of literals and an enumeration, in their order", () => {
    assert.deepStrictEqual(choicesOf(Schema.Literal("a")), ["a"])
    assert.deepStrictEqual(choicesOf(Schema.Literal("strict", "kind")), ["strict", "kind"])
    assert.deepStrictEqual(choicesOf(Schema.Union(Schema.Literal("b"), Schema.Literal("a", "b"))), ["b", "a"])
    assert.deepStrictEqual(choicesOf(Schema.Enums(Size)), ["S", "L"])
    assert.deepStrictEqual(choicesOf(Schema.Union(Schema.Enums(Size), Schema.Literal("M"))), ["S", "L", "M"])
  })

  it("are the same where it may be left out", () => {
    const either = Schema.Literal("a", "b")
    for (
      const field of [
        Schema.optional(either),
        Schema.optionalWith(either, { exact: true }),
        Schema.optionalWith(either, { default: () => "a" as const }),
        Schema.optionalWith(either, { as: "Option" }),
        Schema.UndefinedOr(either)
      ]
    ) {
      assert.deepStrictEqual(choicesOf(field), ["a", "b"])
    }
  })

  it("are what stands on the wire, whatever is made of it, under the name that it has there", () => {
    assert.deepStrictEqual(choicesOf(Schema.BooleanFromString), ["true", "false"])
    assert.deepStrictEqual(choicesOf(Schema.transformLiterals(["one", 1], ["two", 2])), ["one", "two"])
    const renamed = Schema.Struct({
      tone: Schema.propertySignature(Schema.Literal("kind")).pipe(Schema.fromKey("how"))
    })
    assert.deepStrictEqual([...EnumValues.make(renamed)], [["how", ["kind"]]])
  })

  it("are those that a filter leaves", () => {
    const Named = Schema.Literal("a", "b", "c")
    assert.deepStrictEqual(choicesOf(Named.pipe(Schema.filter((s) => s !== "b"))), ["a", "c"])
    assert.isUndefined(choicesOf(Named.pipe(Schema.filter(() => false))))
  })

  it("are none where it may be anything else", () => {
    for (
      const field of [
        Schema.String,
        Schema.NumberFromString,
        Schema.Literal("a", 1),
        Schema.Literal(null),
        Schema.Enums(Level),
        Schema.NullOr(Schema.Literal("a")),
        Schema.Union(Schema.Literal("a"), Schema.String),
        Schema.Array(Schema.Literal("a")),
        Schema.TemplateLiteral("id-", Schema.String),
        Schema.Undefined
      ]
    ) {
      assert.isUndefined(choicesOf(field))
    }
  })

  it("are just what its schema takes", () => {
    const texts = fc.constantFrom("a", "b", "c", "d", "e")
    fc.assert(fc.property(fc.array(texts, { minLength: 1 }), fc.array(texts), texts, ([one, ...rest], out, text) => {
      const schema = Schema.Literal(one!, ...rest).pipe(Schema.filter((s) => !out.includes(s)))
      const choices = choicesOf(schema) ?? []
      assert.strictEqual(choices.includes(text), Schema.is(schema)(text))
      assert.strictEqual(new Set(choices).size, choices.length)
    }))
  })
})
