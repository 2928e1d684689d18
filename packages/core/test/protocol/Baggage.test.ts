import { assert, describe, it } from "@effect/vitest"
import * as Baggage from "@effect-mcp/core/protocol/Baggage"
import { Effect, FastCheck as fc } from "effect"

const parsed = (text: unknown) => {
  const entries = Baggage.parse(text)
  return entries && Object.fromEntries(entries)
}

describe("A text of baggage", () => {
  it("has entries with percent-encoded values, and properties that are left out", () => {
    assert.deepStrictEqual(parsed("userId=alice,serverNode=DF%2028;ttl=1, isProduction = false"), {
      userId: "alice",
      serverNode: "DF 28",
      isProduction: "false"
    })
  })

  for (
    const [why, text] of [
      ["a key twice", "a=1,b=2,a=3"],
      ["a line break", "a=1\r\nset-cookie: b"],
      ["a line break after a property", "a=1;p\r\nset-cookie: b"],
      ["a key that is not a token", "a b=1"],
      ["half of an encoded octet", "a=%2"],
      ["an entry without a value", "a"],
      ["more than 8,192 characters", `a=${"x".repeat(8200)}`],
      ["more than 64 entries", Array.from({ length: 65 }, (_, i) => `k${i}=1`).join(",")],
      ["thousands of entries", Array.from({ length: 5000 }, (_, i) => `k${i}=1`).join(",")],
      ["no text", { a: 1 }],
      ["nothing", ""]
    ] as const
  ) it(`with ${why} counts as absent`, () => assert.strictEqual(parsed(text), undefined))

  it("becomes no prototype, whatever its keys", () => {
    assert.strictEqual(Baggage.parse("__proto__=1")?.get("__proto__"), "1")
  })

  it("is what entries become, and they what it becomes", () => {
    fc.assert(fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ unit: "grapheme", maxLength: 20 }), { maxKeys: 20 }),
      (entries) => {
        const text = Baggage.format(new Map(Object.entries(entries)), () => true)
        assert.deepStrictEqual(parsed(text) ?? {}, { ...entries })
      }
    ))
  })

  it("leaves out entries that nobody wants, and what no text can have", () => {
    const entries = new Map([["a", "1"], ["b", "2\r\nc: d"], ["no token", "3"], ["long", "x".repeat(9000)], [
      "half",
      "\ud800"
    ]])
    assert.strictEqual(Baggage.format(entries, (key) => key !== "a"), "b=2%0D%0Ac%3A%20d,half=%EF%BF%BD")
    assert.strictEqual(Baggage.format(entries, () => false), undefined)
  })

  it("stays within its limits", () => {
    const many = new Map(Array.from({ length: 1000 }, (_, i) => [`k${i}`, "1"]))
    assert.strictEqual(Baggage.format(many, () => true)!.split(",").length, Baggage.MAX_ENTRIES)
    const long = new Map(Array.from({ length: 60 }, (_, i) => [`k${i}`, "ä".repeat(100)]))
    assert.isAtMost(Baggage.format(long, () => true)!.length, Baggage.MAX_LENGTH)
  })
})

describe("Entries of an application", () => {
  it.effect("are added to those around them", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Baggage.Baggage).size, 0)
      const inner = Baggage.withEntries(Baggage.Baggage, { b: "3" })
      assert.deepStrictEqual([...(yield* Baggage.withEntries(inner, { a: "1", b: "2" }))], [["a", "1"], ["b", "3"]])
    }))
})
