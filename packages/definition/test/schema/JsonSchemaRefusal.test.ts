import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as JsonSchemaRefusal from "../../src/schema/JsonSchemaRefusal.js"

const refusals = (schema: object, value: unknown) => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema)
  assert.isFalse(validate(value))
  return validate.errors!.map(JsonSchemaRefusal.make)
}

describe("What ajv says is wrong", () => {
  it("is said of the member that is missing, unexpected or ill named, not of what holds it", () => {
    const holder = { type: "object", required: ["a"], additionalProperties: false, properties: { a: {} } }
    assert.deepStrictEqual(refusals({ properties: { in: holder } }, { in: { b: 1 } }), [
      { path: ["in", "a"], message: "is missing" },
      { path: ["in", "b"], message: "is unexpected" }
    ])
    assert.deepStrictEqual(refusals({ properties: { a: {} }, unevaluatedProperties: false }, { a: 1, b: 1 }), [
      { path: ["b"], message: "is unexpected" }
    ])
    assert.deepInclude(refusals({ propertyNames: { maxLength: 1 } }, { ab: 1 }), {
      path: ["ab"],
      message: "has a name that is not allowed"
    })
  })

  it("names the values that would have done", () => {
    assert.deepStrictEqual(refusals({ items: { enum: ["a", 1, null] } }, ["a", "b"]), [
      { path: ["1"], message: `must be one of "a", 1, null` }
    ])
    assert.deepStrictEqual(refusals({ const: { a: 1 } }, 1), [{ path: [], message: `must be {"a":1}` }])
  })

  it("is said in ajv's words otherwise", () => {
    assert.deepStrictEqual(refusals({ type: "integer" }, 1.5), [{ path: [], message: "must be integer" }])
    assert.deepStrictEqual(refusals({ properties: { a: false } }, { a: 1 }), [{
      path: ["a"],
      message: "is not allowed"
    }])
    assert.deepStrictEqual(
      JsonSchemaRefusal.make({ instancePath: "", schemaPath: "", keyword: "odd", params: {} }),
      { path: [], message: "does not conform" }
    )
  })

  it("is said of names with slashes and tildes in them", () => {
    const refused = refusals({ properties: { "a/b~1": { properties: { "~": { type: "string" } } } } }, {
      "a/b~1": { "~": 1 }
    })
    assert.deepStrictEqual(refused, [{ path: ["a/b~1", "~"], message: "must be string" }])
  })
})
