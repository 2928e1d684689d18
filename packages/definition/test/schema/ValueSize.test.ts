import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as ValueSize from "../../src/schema/ValueSize.js"

const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner), 1)
    : 1

describe("A value", () => {
  it("is small up to the limit", () => {
    assert.isTrue(ValueSize.isSmall(undefined))
    assert.isTrue(ValueSize.isSmall("x".repeat(100_000)))
    assert.isTrue(ValueSize.isSmall(Array.from({ length: ValueSize.SMALL - 1 }, () => 0)))
    assert.isFalse(ValueSize.isSmall(Array.from({ length: ValueSize.SMALL }, () => 0)))
    const wide = Object.fromEntries(Array.from({ length: ValueSize.SMALL }, (_, i) => [`k${i}`, {}]))
    assert.isFalse(ValueSize.isSmall(wide))
  })

  it("counts every value inside it, at every depth", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.nat(1200), (value, more) => {
      const whole = [value, Array.from({ length: more }, () => null)]
      assert.strictEqual(ValueSize.isSmall(whole), countOf(whole) <= ValueSize.SMALL)
    }))
  })

  it("is not small when it refers to itself", () => {
    const loop: Array<unknown> = []
    loop.push(loop)
    assert.isFalse(ValueSize.isSmall(loop))
  })
})
