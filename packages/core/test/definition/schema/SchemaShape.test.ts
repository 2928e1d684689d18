import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Schema } from "effect"
import * as SchemaShape from "../../../src/definition/schema/SchemaShape.js"

enum Size {
  small = "S",
  large = "L"
}

enum Level {
  low,
  high
}

const valuesOf = (field: Schema.Struct.Field) => SchemaShape.enumValues(Schema.Struct({ field })).get("field")

describe("The strings that a field may be", () => {
  it("are those of a literal, a union of literals and an enumeration, in their order", () => {
    assert.deepStrictEqual(valuesOf(Schema.Literal("a")), ["a"])
    assert.deepStrictEqual(valuesOf(Schema.Literal("strict", "kind")), ["strict", "kind"])
    assert.deepStrictEqual(valuesOf(Schema.Union(Schema.Literal("b"), Schema.Literal("a", "b"))), ["b", "a"])
    assert.deepStrictEqual(valuesOf(Schema.Enums(Size)), ["S", "L"])
    assert.deepStrictEqual(valuesOf(Schema.Union(Schema.Enums(Size), Schema.Literal("M"))), ["S", "L", "M"])
  })

  it("are the same for an optional field", () => {
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
      assert.deepStrictEqual(valuesOf(field), ["a", "b"])
    }
  })

  it("are the encoded strings, under the encoded name", () => {
    assert.deepStrictEqual(valuesOf(Schema.BooleanFromString), ["true", "false"])
    assert.deepStrictEqual(valuesOf(Schema.transformLiterals(["one", 1], ["two", 2])), ["one", "two"])
    const renamed = Schema.Struct({
      tone: Schema.propertySignature(Schema.Literal("kind")).pipe(Schema.fromKey("how"))
    })
    assert.deepStrictEqual([...SchemaShape.enumValues(renamed)], [["how", ["kind"]]])
  })

  it("are those that pass a filter", () => {
    const Named = Schema.Literal("a", "b", "c")
    assert.deepStrictEqual(valuesOf(Named.pipe(Schema.filter((s) => s !== "b"))), ["a", "c"])
    assert.isUndefined(valuesOf(Named.pipe(Schema.filter(() => false))))
  })

  it("do not exist where the schema allows other values", () => {
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
      assert.isUndefined(valuesOf(field))
    }
  })

  it("are exactly the strings that the schema accepts", () => {
    const texts = fc.constantFrom("a", "b", "c", "d", "e")
    fc.assert(fc.property(fc.array(texts, { minLength: 1 }), fc.array(texts), texts, ([one, ...rest], out, text) => {
      const schema = Schema.Literal(one!, ...rest).pipe(Schema.filter((s) => !out.includes(s)))
      const values = valuesOf(schema) ?? []
      assert.strictEqual(values.includes(text), Schema.is(schema)(text))
      assert.strictEqual(new Set(values).size, values.length)
    }))
  })
})
