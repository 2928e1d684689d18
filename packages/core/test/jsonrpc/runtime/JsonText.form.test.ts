import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
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

describe("JsonText.stringify", () => {
  const half = /\p{Cs}/u
  const isWhole = (value: unknown): boolean =>
    typeof value === "string"
      ? !half.test(value)
      : typeof value !== "object" || value === null || Object.entries(value).flat().every(isWhole)

  it("writes whole characters only, in names and in texts, and changes nothing else", () => {
    const texts = FastCheck.stringOf(
      FastCheck.oneof(
        FastCheck.constantFrom("\ud83d", "\ude00", "😀", "\\", "\\ud83d", "\\\\udead", "u", "d", "\"", "\n"),
        FastCheck.char16bits()
      ),
      { maxLength: 20 }
    )
    FastCheck.assert(
      FastCheck.property(texts, FastCheck.jsonValue(), (text, value) => {
        const given = { text, [text]: [text, value], value }
        const written = JSON.parse(JsonText.stringify(given)!) as typeof given
        const whole = text.replace(/\p{Cs}/gu, "\ufffd")
        assert.isTrue(isWhole(written))
        assert.deepStrictEqual(written, JSON.parse(JSON.stringify({ text: whole, [whole]: [whole, value], value })))
      }),
      { numRuns: 1000 }
    )
  })

  it("takes time linear in the text, however many backslashes it has", () => {
    const before = process.cpuUsage()
    const text = JsonText.stringify(["\\".repeat(500_000), "\\ud".repeat(300_000), "\ud83d".repeat(300_000)])!
    assert.isBelow(process.cpuUsage(before).user, 2_000_000)
    assert.isTrue(isWhole(JSON.parse(text)))
  })
})
