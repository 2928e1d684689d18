import * as Json from "@effect-mcp/core/protocol/Json"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Json", () => {
  it("accepts any object as an object, and nothing else", () => {
    const is = SchemaCheck.compile(Json.JsonObject)
    expect([{}, { a: 1 }].map(is)).toEqual([true, true])
    expect([null, [], "", 1, undefined].map(is)).toEqual([false, false, false, false, false])
    expect(SchemaCheck.compile(Json.JsonObject)({})).toBe(true)
  })

  it("accepts anything as a value, null too, but not undefined", () => {
    const is = SchemaCheck.compile(Json.JsonValue)
    expect([null, 0, "", [], {}].map(is)).toEqual([true, true, true, true, true])
    expect(is(undefined)).toBe(false)
  })

  it("accepts integers of any size", () => {
    const is = SchemaCheck.compile(Json.Integer)
    expect([0, -1, 2 ** 60].map(is)).toEqual([true, true, true])
    expect([0.5, NaN, Infinity, "1"].map(is)).toEqual([false, false, false, false])
  })

  it("accepts any string as a key", () => {
    expect(["", "__proto__"].map(SchemaCheck.compile(Json.Key))).toEqual([true, true])
  })
})
