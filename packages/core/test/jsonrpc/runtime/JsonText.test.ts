import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as JsonText from "../../../src/jsonrpc/runtime/JsonText.js"

const arrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)
const objects = (depth: number): string => "{\"a\":".repeat(depth - 1) + "{}" + "}".repeat(depth - 1)

const refusal = (text: string, maxDepth?: number): JsonText.Refused["reason"] | undefined => {
  const value = JsonText.parse(text, maxDepth)
  return value instanceof JsonText.Refused ? value.reason : undefined
}

describe("JsonText.parse", () => {
  it("ignores a byte order mark, and no second one", () => {
    assert.deepStrictEqual(JsonText.parse("\uFEFF{\"a\":[1]}"), { a: [1] })
    for (const text of ["\uFEFF", "\uFEFF\uFEFF{}", "{}\uFEFF", " \uFEFF{}"]) {
      assert.deepInclude(JsonText.parse(text) as object, { _tag: "Refused", reason: "syntax" })
    }
  })

  it("returns the value of any JSON document", () => {
    FastCheck.assert(FastCheck.property(FastCheck.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value)
      if (text.includes("__proto__")) return
      assert.deepStrictEqual(JsonText.parse(text), JSON.parse(text))
    }))
  })

  it("refuses text that is not JSON, without repeating it", () => {
    for (const text of ["", "{", "{'a':1}", "NaN", "undefined", "{} {}", "s3cret", "\u0000"]) {
      const value = JsonText.parse(text)
      assert.instanceOf(value, JsonText.Refused)
      assert.strictEqual(value.reason, "syntax")
      assert.strictEqual(value.message, "Parse error: the input is not JSON")
      assert.strictEqual(value.value, undefined)
    }
  })

  it("never throws, whatever the text", () => {
    FastCheck.assert(FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
      JsonText.parse(text)
    }))
  })

  it("accepts 64 levels and refuses 65", () => {
    for (const nested of [arrays, objects]) {
      assert.deepStrictEqual(JsonText.parse(nested(64)), JSON.parse(nested(64)))
      assert.strictEqual(refusal(nested(65)), "depth")
    }
    assert.strictEqual(refusal("[".repeat(33) + objects(32) + "]".repeat(33)), "depth")
    assert.isUndefined(refusal("[".repeat(32) + objects(32) + "]".repeat(32)))
  })

  it("counts levels, not brackets", () => {
    const wide = `[${Array.from({ length: 1000 }, () => "{\"a\":[]}").join(",")}]`
    assert.isUndefined(refusal(wide))
    assert.isUndefined(refusal(JSON.stringify({ text: "[{".repeat(1000) })))
  })

  it("accepts as many levels as the caller names", () => {
    assert.isUndefined(refusal(arrays(3), 3))
    assert.strictEqual(refusal(arrays(4), 3), "depth")
    assert.strictEqual(refusal("[]", 0), "depth")
    assert.isUndefined(refusal("1", 0))
    assert.isUndefined(refusal(arrays(100), 100))
  })

  it("returns the value of a document that is too deep, so that it can be answered", () => {
    const value = JsonText.parse(`{"id":7,"params":${arrays(64)}}`)
    assert.instanceOf(value, JsonText.Refused)
    assert.strictEqual((value.value as { id: number }).id, 7)
  })

  it("refuses, and does not throw, when the stack overflows below the limit", () => {
    const deep = arrays(200_000)
    assert.strictEqual(refusal(deep, 150_000), "depth")
    assert.strictEqual(refusal(`[${deep.slice(1, -1)},"__proto__"]`, Infinity), "depth")
  })

  const spellings = [
    "__proto__",
    "\\u005f_proto__",
    "\\u005F\\u005F\\u0070\\u0072\\u006f\\u0074\\u006F\\u005f\\u005f",
    "__\\u0070roto__",
    "__p\\u0072oto__",
    "__pr\\u006Fto__",
    "__pro\\u0074o__",
    "__prot\\u006f__",
    "__proto_\\u005f"
  ]

  for (const name of spellings) {
    it(`refuses a member named ${name}, wherever it stands`, () => {
      assert.strictEqual(refusal(`{"${name}":{"admin":true}}`), "prototype")
      assert.strictEqual(refusal(`{"a":[1,{"b":{"${name}":null}}]}`), "prototype")
    })
  }

  it("accepts the name as a value, and names that resemble it", () => {
    for (const text of [`{"a":"__proto__"}`, `["\\u005f_proto__"]`, `{"__proto":1}`, `{"\\\\u005f_proto__":1}`]) {
      assert.deepStrictEqual(JsonText.parse(text), JSON.parse(text))
    }
  })

  it("returns the value of a document that names a prototype, so that it can be answered", () => {
    const value = JsonText.parse(`{"id":"a","__proto__":{}}`)
    assert.instanceOf(value, JsonText.Refused)
    assert.strictEqual((value.value as { id: string }).id, "a")
  })
})

const nodes = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 1
    : Object.values(value).reduce((sum: number, inner) => sum + nodes(inner), 1)

/** Whether it holds exactly so many. */
const holds = (text: string, count: number): boolean =>
  !JsonText.holdsMoreThan(text, count) && JsonText.holdsMoreThan(text, count - 1)

describe("JsonText.holdsMoreThan", () => {
  it("counts every value of any document, however it is laid out", () => {
    FastCheck.assert(FastCheck.property(FastCheck.jsonValue({ maxDepth: 5 }), FastCheck.nat(3), (value, indent) => {
      assert.isTrue(holds(JSON.stringify(value, null, indent), nodes(value)))
    }))
  })

  it("takes 100,000 and not one more, in arrays, objects and what is nested", () => {
    for (const max of [JsonText.MAX_NODES, JsonText.MAX_RESPONSE_NODES]) {
      const numbers = (count: number) => `[${"0,".repeat(count - 2)}0]`
      const members = (count: number) => `{${"\"\":0,".repeat(count - 2)}"":0}`
      const empty = (count: number) => `[${"{},".repeat(count - 2)}[ ]]`
      for (const make of [numbers, members, empty]) {
        assert.isFalse(JsonText.holdsMoreThan(make(max), max))
        assert.isTrue(JsonText.holdsMoreThan(make(max + 1), max))
      }
    }
    assert.isTrue(holds("[".repeat(1000) + "]".repeat(1000), 1000))
  })

  it("does not count what stands in strings", () => {
    const strings = [
      ",{[:".repeat(100_000),
      "\"\\,[\\\\\",{".repeat(50_000),
      "\\".repeat(100_000),
      "ä,😀,".repeat(50_000)
    ]
    for (const string of strings) {
      assert.isTrue(holds(JSON.stringify(string), 1))
      assert.isTrue(holds(JSON.stringify({ [string]: string, a: [string, 1] }), 5))
    }
    assert.isTrue(holds(JSON.stringify(strings), 1 + strings.length))
  })

  it("does not look at a text that is too short to hold too many", () => {
    const look = () => assert.fail("looked at")
    const text = { length: 200, indexOf: look, charCodeAt: look } as unknown as string
    assert.isFalse(JsonText.holdsMoreThan(text, 100))
  })

  it("does not read exactly what cannot hold too many", () => {
    const text = `{"a":"${",".repeat(500)}","b":[${" ".repeat(5000)}]}`
    const look = () => assert.fail("read")
    const watched = { length: text.length, indexOf: text.indexOf.bind(text), charCodeAt: look } as unknown as string
    assert.isFalse(JsonText.holdsMoreThan(watched, 600))
    assert.isTrue(holds(text, 3))
  })

  it("ends with the first that is too many, and at the end of what is not JSON", () => {
    let looks = 0
    const text = `[${"0,".repeat(100_000)}0]`
    const watched = {
      length: text.length,
      indexOf: (...args: [string, number?]) => (looks++, text.indexOf(...args)),
      charCodeAt: (at: number) => (looks++, text.charCodeAt(at))
    }
    assert.isTrue(JsonText.holdsMoreThan(watched as unknown as string, 1000))
    assert.isBelow(looks, 10_000)
    assert.isFalse(JsonText.holdsMoreThan("\"" + ",".repeat(100), 10))
  })
})

describe("JsonText.stringify", () => {
  it("writes one line", () => {
    const text = JsonText.stringify({ a: "one\ntwo\r\n\u2028" })
    assert.isDefined(text)
    assert.notMatch(text, /[\n\r]/)
    assert.deepStrictEqual(JSON.parse(text), { a: "one\ntwo\r\n\u2028" })
  })

  it("returns undefined for a value without a JSON form", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const throws = {
      toJSON: () => {
        throw new Error("no")
      }
    }
    for (const value of [cycle, { a: 1n }, throws, undefined, () => 1]) {
      assert.strictEqual(JsonText.stringify(value), undefined)
    }
  })
})
