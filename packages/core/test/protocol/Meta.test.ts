import * as Meta from "@effect-mcp/core/protocol/Meta"
import { describe, expect, it } from "vitest"
import * as MetaKey from "../../src/protocol/rules/MetaKey.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Meta", () => {
  it("names every key that the specification defines, each once", () => {
    const keys = Object.values(Meta.keys)
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(MetaKey.isReserved(key), key).toBe(true)
  })

  it("keeps unknown keys", () => {
    const is = SchemaCheck.compile(Meta.Meta)
    expect([{}, { "com.example/x": null }].map(is)).toEqual([true, true])
    expect([null, [], "x"].map(is)).toEqual([false, false, false])
  })

  it("has a progress token that is a string or an integer", () => {
    const is = SchemaCheck.compile(Meta.RequestMeta)
    expect(["", "a", 0, -1].map((progressToken) => is({ progressToken }))).toEqual([true, true, true, true])
    expect([null, 1.5, true, {}, 2 ** 53].map((progressToken) => is({ progressToken }))).toEqual([
      false,
      false,
      false,
      false,
      false
    ])
    expect(is({})).toBe(true)
  })

  it("accepts strings and integers as ids", () => {
    const is = SchemaCheck.compile(Meta.RequestId)
    expect(["", "1", 0, -7, true, null, 1.5].map(is)).toEqual([true, true, true, true, false, false, false])
  })
})
