import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as JsonSchemaError from "../../src/schema/JsonSchemaError.js"

const errorsOf = (schema: object, value: unknown) => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema)
  assert.isFalse(validate(value))
  return validate.errors!.map(JsonSchemaError.make)
}

describe("An error of ajv", () => {
  it("has the path of the member that is missing, unexpected or misnamed, not of the object around it", () => {
    const holder = { type: "object", required: ["a"], additionalProperties: false, properties: { a: {} } }
    assert.deepStrictEqual(errorsOf({ properties: { in: holder } }, { in: { b: 1 } }), [
      { path: ["in", "a"], message: "is missing" },
      { path: ["in", "b"], message: "is unexpected" }
    ])
    assert.deepStrictEqual(errorsOf({ properties: { a: {} }, unevaluatedProperties: false }, { a: 1, b: 1 }), [
      { path: ["b"], message: "is unexpected" }
    ])
    assert.deepInclude(errorsOf({ propertyNames: { maxLength: 1 } }, { ab: 1 }), {
      path: ["ab"],
      message: "has a name that is not allowed"
    })
  })

  it("names the allowed values", () => {
    assert.deepStrictEqual(errorsOf({ items: { enum: ["a", 1, null] } }, ["a", "b"]), [
      { path: ["1"], message: `must be one of "a", 1, null` }
    ])
    assert.deepStrictEqual(errorsOf({ const: { a: 1 } }, 1), [{ path: [], message: `must be {"a":1}` }])
  })

  it("otherwise has the message of ajv", () => {
    assert.deepStrictEqual(errorsOf({ type: "integer" }, 1.5), [{ path: [], message: "must be integer" }])
    assert.deepStrictEqual(errorsOf({ properties: { a: false } }, { a: 1 }), [{
      path: ["a"],
      message: "is not allowed"
    }])
    assert.deepStrictEqual(
      JsonSchemaError.make({ instancePath: "", schemaPath: "", keyword: "odd", params: {} }),
      { path: [], message: "does not conform" }
    )
  })

  it("decodes slashes and tildes in names", () => {
    const errors = errorsOf({ properties: { "a/b~1": { properties: { "~": { type: "string" } } } } }, {
      "a/b~1": { "~": 1 }
    })
    assert.deepStrictEqual(errors, [{ path: ["a/b~1", "~"], message: "must be string" }])
  })
})
