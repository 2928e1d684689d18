import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as SchemaParser from "../../../src/definition/schema/SchemaParser.js"

const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner), 1)
    : 1

describe("A value", () => {
  it("is small up to the limit", () => {
    assert.isTrue(SchemaParser.isSmall(undefined))
    assert.isTrue(SchemaParser.isSmall("x".repeat(100_000)))
    assert.isTrue(SchemaParser.isSmall(Array.from({ length: SchemaParser.SMALL - 1 }, () => 0)))
    assert.isFalse(SchemaParser.isSmall(Array.from({ length: SchemaParser.SMALL }, () => 0)))
    const wide = Object.fromEntries(Array.from({ length: SchemaParser.SMALL }, (_, i) => [`k${i}`, {}]))
    assert.isFalse(SchemaParser.isSmall(wide))
  })

  it("counts every value inside it, at every depth", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.nat(1200), (value, more) => {
      const whole = [value, Array.from({ length: more }, () => null)]
      assert.strictEqual(SchemaParser.isSmall(whole), countOf(whole) <= SchemaParser.SMALL)
    }))
  })

  it("is not small when it refers to itself", () => {
    const loop: Array<unknown> = []
    loop.push(loop)
    assert.isFalse(SchemaParser.isSmall(loop))
  })
})
