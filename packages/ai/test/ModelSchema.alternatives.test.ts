/** Alternatives inside of the arguments: what stands beside them is a condition too. */
import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Either } from "effect"

const beside = (property: JsonObject, dialect: ModelSchema.Dialect) => {
  const made = Either.getOrThrow(
    ModelSchema.make({ type: "object", properties: { property }, required: ["property"] }, dialect)
  )
  return { isStrict: made.isStrict, property: (made.schema.properties as JsonObject).property as JsonObject }
}

const length = { type: "number" }
const shape = {
  type: "object",
  properties: { id: { type: "string" } },
  required: ["id"],
  oneOf: [
    { type: "object", properties: { r: length }, required: ["r"] },
    { type: "object", properties: { w: length }, required: ["w"] }
  ]
}

describe("The alternatives inside of the arguments for a model", () => {
  it("has no strict form when an object has properties or requirements beside alternatives", () => {
    const { properties: _, ...required } = shape
    for (const property of [shape, required]) {
      assert.deepStrictEqual<unknown>(beside(property, "openai-strict"), { isStrict: false, property })
    }
    const { required: __, ...alone } = required
    for (const property of [alone, { ...alone, properties: {}, required: [] }]) {
      const made = beside(property, "openai-strict")
      assert.isTrue(made.isStrict)
      assert.strictEqual((made.property.anyOf as ReadonlyArray<unknown>).length, 2)
    }
  })

  it("keeps for Gemini what stands beside alternatives", () => {
    assert.deepStrictEqual<unknown>(beside(shape, "gemini").property, {
      type: "object",
      description: "Give one of: r; or w.",
      properties: { id: { type: "string" }, r: length, w: length },
      required: ["id"]
    })
    const named = { ...shape, oneOf: [...shape.oneOf.map((one) => ({ ...one, required: ["id"] })), { type: "null" }] }
    assert.deepInclude(beside({ ...named, required: [] }, "gemini").property, { nullable: true, required: ["id"] })
    const text = { type: "string" }
    const contact = { properties: { name: text, mail: text }, anyOf: [{ required: ["name"] }, { required: ["mail"] }] }
    for (const type of ["object", ["object", "null"], undefined]) {
      assert.deepStrictEqual<unknown>(beside({ ...contact, ...(type && { type }) }, "gemini").property, {
        type: "object",
        description: "Give one of: name; or mail.",
        properties: contact.properties,
        ...(Array.isArray(type) ? { nullable: true } : undefined)
      })
    }
  })

  it("has for Gemini the type of a schema whose alternatives have none, and says them in words", () => {
    const outside = { type: "integer", description: "Not in between.", anyOf: [{ maximum: 0 }, { minimum: 10 }] }
    assert.deepStrictEqual<unknown>(beside(outside, "gemini").property, {
      type: "integer",
      description: "Not in between. (anyOf: [{\"maximum\":0},{\"minimum\":10}])"
    })
    const list = { type: ["array", "null"], items: { type: "string" }, oneOf: [{ minItems: 2 }] }
    assert.deepStrictEqual<unknown>(beside(list, "gemini").property, {
      type: "array",
      nullable: true,
      description: "(oneOf: [{\"minItems\":2}])",
      items: { type: "string" }
    })
  })

  it("costs no more than its size, also where alternatives are in properties beside alternatives", () => {
    for (const levels of [100, 500, 1_500]) {
      const nested = Array.from({ length: levels }).reduce<JsonObject>(
        (inner) => ({ type: "object", properties: { a: inner }, anyOf: [{}, {}] }),
        {}
      )
      const begin = process.cpuUsage()
      const made = ModelSchema.make({ type: "object", properties: { nested } }, "gemini")
      assert.isBelow(process.cpuUsage(begin).user, 1_000_000)
      if (Either.isLeft(made)) assert.match(made.left, /too (large|deeply)/)
    }
  })
})
