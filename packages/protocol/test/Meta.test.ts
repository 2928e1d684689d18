import { describe, expect, it } from "vitest"
import * as Guard from "../src/Guard.js"
import * as Meta from "../src/Meta.js"
import * as MetaKey from "../src/MetaKey.js"

describe("Meta", () => {
  it("names every key that the specification reserves, each once", () => {
    const keys = Object.values(Meta.keys)
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(MetaKey.isReserved(key), key).toBe(true)
  })

  it("is open", () => {
    const is = Guard.compile(Meta.Meta)
    expect([{}, { "com.example/x": null }].map(is)).toEqual([true, true])
    expect([null, [], "x"].map(is)).toEqual([false, false, false])
  })

  it("asks for progress under a text or a whole number", () => {
    const is = Guard.compile(Meta.RequestMeta)
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

  it("takes texts and integers for ids", () => {
    const is = Guard.compile(Meta.RequestId)
    expect(["", "1", 0, -7, true, null, 1.5].map(is)).toEqual([true, true, true, true, false, false, false])
  })
})
