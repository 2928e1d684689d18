import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as JsonSchema from "../../../src/definition/schema/JsonSchema.js"

const schemas: ReadonlyArray<readonly [Schema.Schema<any, any>, object]> = [
  [Schema.Date, { type: "string", format: "date-time" }],
  [Schema.DateTimeUtc, { type: "string", format: "date-time" }],
  [Schema.DateFromNumber, { type: "number", description: "milliseconds since 1970-01-01T00:00:00Z" }],
  [Schema.URL, { type: "string", format: "uri" }],
  [Schema.NumberFromString, { type: "string", description: "a number, written as a string" }],
  [Schema.BigInt, { type: "string", description: "an integer, written as a string" }],
  [Schema.BooleanFromString, { type: "string", enum: ["true", "false"] }],
  [Schema.StringFromBase64, { type: "string", contentEncoding: "base64" }],
  [Schema.Uint8ArrayFromBase64Url, { type: "string", contentEncoding: "base64url" }],
  [Schema.Lowercase, { type: "string" }],
  [Schema.split(","), { type: "string" }]
]

describe("What a model reads of a transformation", () => {
  for (const [schema, json] of schemas) {
    it(`is ${JSON.stringify(json)} for ${String(schema).slice(0, 40)}`, () => {
      assert.deepStrictEqual(JsonSchema.make(schema), json)
    })
  }

  it("never names a type of the server, in any of Effect's schemas", () => {
    for (const [name, schema] of Object.entries(Schema)) {
      if (!Schema.isSchema(schema)) continue
      const text = advertised(schema as Schema.Schema<any, any>)
      assert.notMatch(text, /decoded into|that will be|"[A-Z]\w+Encoded[<"]/, name)
    }
  })

  it("is the author's description where there is one, with the format", () => {
    assert.deepStrictEqual(JsonSchema.make(Schema.Date.annotations({ description: "When." })), {
      type: "string",
      format: "date-time",
      description: "When."
    })
  })
})

/** The descriptions in the JSON Schema; empty for a schema that has none. */
const advertised = (schema: Schema.Schema<any, any>): string => {
  try {
    return JSON.stringify(JsonSchema.make(Schema.Struct({ a: schema }))).match(/"description":"[^"]*"/g)?.join() ?? ""
  } catch {
    return ""
  }
}
