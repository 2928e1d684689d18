import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as JsonText from "../../../src/jsonrpc/runtime/JsonText.js"

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

describe("JsonText.strictText", () => {
  const values: ReadonlyArray<unknown> = [
    null,
    "null",
    0,
    [],
    { a: null, b: [null, { c: "null" }] },
    { left: undefined, out: () => 1 },
    new Date(0),
    { at: new Date(0), none: null },
    { own: { toJSON: () => null } }
  ]
  for (const value of values) {
    it(`writes ${JSON.stringify(value)} as JSON.stringify does`, () => {
      assert.deepStrictEqual(JsonText.strictText(value), Either.right(JSON.stringify(value)))
      assert.strictEqual(JsonText.fault(value), undefined)
    })
  }

  const faults: ReadonlyArray<readonly [value: unknown, where: string]> = [
    [NaN, "it is NaN"],
    [{ a: [0, { b: Infinity }] }, "a.1.b is Infinity"],
    [[undefined], "0 is undefined"],
    [{ list: [Symbol("a")] }, "list.0 is a symbol"],
    [{ at: new Date(NaN) }, "at is an invalid date"]
  ]
  for (const [value, where] of faults) {
    it(`finds that ${where}`, () => {
      assert.strictEqual(JsonText.fault(value), where)
      assert.deepStrictEqual(JsonText.strictText(value), Either.left(where))
    })
  }

  it("finds no end of a cycle, and does not write it", () => {
    assert.strictEqual(JsonText.fault(cyclic), undefined)
    assert.deepStrictEqual(JsonText.strictText(cyclic), Either.left("it has no form in JSON"))
    assert.isTrue(Either.isLeft(JsonText.strictText(undefined)))
  })
})
