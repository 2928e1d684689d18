import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as JsonSchema from "../../../src/definition/schema/JsonSchema.js"

const defaultOf = (schema: Schema.PropertySignature.All): unknown => {
  const { properties } = JsonSchema.make(Schema.Struct({ a: schema })) as { properties: { a: { default?: unknown } } }
  return properties.a.default
}

describe("The default of a field", () => {
  it("is advertised as it is encoded", () => {
    assert.strictEqual(defaultOf(Schema.optionalWith(Schema.Int, { default: () => 10 })), 10)
    assert.strictEqual(defaultOf(Schema.optionalWith(Schema.NumberFromString, { default: () => 10 })), "10")
    assert.strictEqual(
      defaultOf(Schema.optionalWith(Schema.Date, { default: () => new Date(0), exact: true })),
      "1970-01-01T00:00:00.000Z"
    )
    assert.deepStrictEqual(
      defaultOf(Schema.optionalWith(Schema.Struct({ on: Schema.Boolean }), { default: () => ({ on: true }) })),
      { on: true }
    )
    assert.strictEqual(defaultOf(Schema.optionalWith(Schema.String, { nullable: true, default: () => "x" })), "x")
  })

  it("is the author's annotation where there is one", () => {
    const Level = Schema.Int.annotations({ default: 5 })
    assert.strictEqual(defaultOf(Schema.optionalWith(Level, { default: () => 7 })), 5)
  })

  it("is not advertised when it differs each time, fails, or does not fit the schema", () => {
    let count = 0
    assert.isUndefined(defaultOf(Schema.optionalWith(Schema.Int, { default: () => count++ })))
    assert.isUndefined(defaultOf(Schema.optionalWith(Schema.Int, {
      default: () => {
        throw new Error("not yet")
      }
    })))
    assert.isUndefined(defaultOf(Schema.optionalWith(Schema.Int, { default: () => 1.5 })))
    assert.isUndefined(defaultOf(Schema.optionalWith(Schema.Int, { as: "Option" })))
    assert.isUndefined(defaultOf(Schema.optional(Schema.Int)))
  })
})
