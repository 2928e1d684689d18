import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { parse } from "../../src/configuration/ConfigurationText.js"

const value = (text: string, format: "json" | "toml" = "json") => Either.getOrThrow(parse(text, format))
const problem = (text: string, format: "json" | "toml" = "json") => Either.getOrThrow(Either.flip(parse(text, format)))

describe("The text of a configuration", () => {
  it("is JSON with comments, trailing commas and a byte order mark", () => {
    const expected = { a: [1, { b: null }, "//"], c: { "/*": true } }
    for (
      const text of [
        JSON.stringify(expected),
        `\uFEFF${JSON.stringify(expected)}`,
        "{ // one\n \"a\": [1, { \"b\": null, }, \"//\",], /* two */ \"c\": { \"/*\": true }, }"
      ]
    ) assert.deepStrictEqual<unknown>(value(text), expected)
    for (const blank of ["", " \n", "\uFEFF"]) assert.deepStrictEqual(value(blank), {})
  })

  it("is refused where it is broken, because a half of it is another configuration", () => {
    for (
      const [text, reason] of [
        ["{ \"a\": 1 \"b\": 2 }", "comma expected in line 1, column 10"],
        ["{ \"a\": 1", "close brace expected in line 1, column 9"],
        ["{ \"a\": [1, 2 }", "comma expected in line 1, column 14"],
        ["{ a: 1 }", "invalid symbol in line 1, column 3"],
        ["{\n\"a\": \"b\n}", "unexpected end of string in line 2, column 6"],
        ["{} {}", "end of file expected in line 1, column 4"],
        ["{ /* }", "unexpected end of comment in line 1, column 3"],
        ["// nothing", "value expected in line 1, column 11"]
      ] as const
    ) assert.strictEqual(problem(text), `it is not JSON: ${reason}`, text)
  })

  it("has `__proto__` as a member like any other", () => {
    for (
      const [text, format] of [
        ["{ \"__proto__\": { \"polluted\": 1 }, \"a\": { \"__proto__\": 2 } }", "json"],
        ["{ /**/ \"__proto__\": { \"polluted\": 1 }, \"a\": { \"__proto__\": 2 } }", "json"],
        ["__proto__.polluted = 1\na.__proto__ = 2", "toml"]
      ] as const
    ) {
      const read = value(text, format) as Record<string, object>
      assert.deepStrictEqual(Object.keys(read), ["__proto__", "a"], text)
      assert.isUndefined((read as { polluted?: unknown }).polluted)
      assert.deepStrictEqual(Object.keys(read["a"]!), ["__proto__"])
      assert.isUndefined(({} as { polluted?: unknown }).polluted)
    }
  })

  it("gives the last of two members of one name", () => {
    assert.deepStrictEqual(value("{ \"a\": 1, \"a\": 2 }"), { a: 2 })
    assert.deepStrictEqual(value("{ \"a\": 1, /**/ \"a\": 2 }"), { a: 2 })
    assert.match(problem("a = 1\na = 2", "toml"), /^it is not TOML: /)
  })

  it("is refused when it is nested too deeply", () => {
    const deep = "[".repeat(1_000_000)
    assert.strictEqual(problem(`{ /**/ "a": ${deep}`), "it is nested too deeply")
    assert.match(problem(`a = ${deep}`, "toml"), /^it is not TOML: .*nested/)
  })

  it("is TOML", () => {
    assert.deepStrictEqual(value("[a.b]\nc = [1, true]\n", "toml"), { a: { b: { c: [1, true] } } })
  })
})
