import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Extent from "../../src/schema/Extent.js"

const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner), 1)
    : 1

describe("A value", () => {
  it("is small as long as it holds no more than the limit", () => {
    assert.isTrue(Extent.isSmall(undefined))
    assert.isTrue(Extent.isSmall("x".repeat(100_000)))
    assert.isTrue(Extent.isSmall(Array.from({ length: Extent.SMALL - 1 }, () => 0)))
    assert.isFalse(Extent.isSmall(Array.from({ length: Extent.SMALL }, () => 0)))
    const wide = Object.fromEntries(Array.from({ length: Extent.SMALL }, (_, i) => [`k${i}`, {}]))
    assert.isFalse(Extent.isSmall(wide))
  })

  it("is small by what is inside of it, at every depth", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.nat(1200), (value, more) => {
      const whole = [value, Array.from({ length: more }, () => null)]
      assert.strictEqual(Extent.isSmall(whole), countOf(whole) <= Extent.SMALL)
    }))
  })

  it("is not small when it never ends", () => {
    const loop: Array<unknown> = []
    loop.push(loop)
    assert.isFalse(Extent.isSmall(loop))
  })
})
