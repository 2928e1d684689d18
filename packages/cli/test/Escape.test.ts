/**
 * The rule by which characters of others are shown: what could steer a terminal, or is not seen, is an escape; joined writing stays.
 */
import { assert, describe, it } from "@effect/vitest"
import { escaped, fit, jsonLine, jsonText, line, Passage, widthOf } from "../src/Escape.js"

const ESC = "\u001b"

/** Every code point in ranges, each between two letters. */
const each = (...ranges: ReadonlyArray<readonly [from: number, to: number]>): ReadonlyArray<string> =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)))

const STEERING = each(
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe01ef]
).concat("\ud800", "\udfff")

describe("Escape.escaped", () => {
  it("shows each character that steers a terminal or is not seen as its number", () => {
    for (const character of STEERING) {
      const number = character.codePointAt(0)!.toString(16)
      assert.strictEqual(escaped(`a${character}b`), `a\\u{${number}}b`)
    }
  })

  it("leaves line feeds, tabs, and letters of every script", () => {
    const texts = [
      "two\n\tlines",
      "Zażółć gęślą jaźń",
      "日本語 한국어 ไทย עברית العربية",
      "é = e\u0301",
      "a\u00a0b",
      "🙂 ← ✔ €"
    ]
    for (const text of texts) assert.strictEqual(escaped(text), text)
    assert.strictEqual(escaped("one\r\ntwo\rthree"), "one\ntwo\\u{d}three")
  })

  it("leaves joiners and variation selectors where they change what is seen, and shows them elsewhere", () => {
    const kept = [
      ["a family", "👩\u200d👧\u200d👦"],
      ["a flag", "🏳\ufe0f\u200d🌈"],
      ["a runner", "🏃🏽\u200d♂\ufe0f"],
      ["a heart, and a keycap", "❤\ufe0f 1\ufe0f\u20e3"],
      ["Persian", "می\u200cخواهم"],
      ["Hindi", "क्\u200dष"],
      ["Bengali", "র\u200d্য"],
      ["a Japanese name", "葛\u{e0100}飾"]
    ]
    for (const [what, text] of kept) assert.strictEqual(escaped(text!), text, what)
    const shown = [
      ["a\u200db", "a\\u{200d}b"],
      ["👩\u200d", "👩\\u{200d}"],
      ["\u200d👩", "\\u{200d}👩"],
      ["ب\u200d\u200dب", "ب\\u{200d}\\u{200d}ب"],
      ["می\u200cx", "می\\u{200c}x"],
      ["a\ufe0f", "a\\u{fe0f}"],
      ["❤\ufe0f\ufe0f", "❤\ufe0f\\u{fe0f}"],
      ["1\ufe0f2", "1\\u{fe0f}2"],
      ["a\u{e0100}", "a\\u{e0100}"]
    ]
    for (const [text, expected] of shown) assert.strictEqual(escaped(text!), expected)
  })

  it("does the same twice as once", () => {
    const text = STEERING.join("") + "👩\u200d👧"
    assert.strictEqual(escaped(escaped(text)), escaped(text))
  })
})

describe("Escaped JSON", () => {
  it("is the same value, without a character that steers", () => {
    const value = { [`k${ESC}\u009b`]: [STEERING.join("x"), "👩\u200d👧", "plain\nlines"], "\u202e": null }
    assert.deepStrictEqual(JSON.parse(jsonLine(value)), value)
    assert.deepStrictEqual(JSON.parse(jsonText(value, 2)), value)
    assert.notMatch(jsonLine(value), /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u)
    assert.strictEqual(jsonLine("\u{e0041}\u007f"), "\"\\udb40\\udc41\\u007f\"")
  })

  it("leaves joined writing to persons", () => {
    assert.strictEqual(jsonText("👩\u200d👧\u202e", 0), "\"👩\u200d👧\\u202e\"")
  })
})

describe("The width of a text", () => {
  it("counts what is shown", () => {
    assert.strictEqual(widthOf("abc", 40), 3)
    assert.strictEqual(widthOf("日本", 40), 4)
    assert.strictEqual(widthOf("e\u0301👩\u200d👧", 40), 3)
    assert.strictEqual(widthOf("abc", 2), 2)
  })

  it("cuts between characters", () => {
    assert.strictEqual(fit("abcdef", 6), "abcdef")
    assert.strictEqual(fit("abcdefg", 6), "abcde…")
    assert.strictEqual(fit("ab👩\u200d👧cd", 4), "ab…")
    assert.strictEqual(fit("日本語", 4), "日…")
    assert.strictEqual(fit("e\u0301\u0301\u0301x", 3, ({ length }) => length), "…")
  })

  it("is that of one line", () => {
    assert.strictEqual(line(" a\r\n\tb\u2028c "), "a b\\u{2028}c")
  })
})

describe("A passage", () => {
  const passed = (...chunks: ReadonlyArray<string | Uint8Array>) => {
    const { next } = new Passage(true)
    return chunks.map(next)
  }
  const red = `${ESC}[31m`
  const reset = `${ESC}[0m`

  it("lets colors through, and shows other sequences", () => {
    assert.deepStrictEqual(passed(`${red}no${reset}\n`), [`${red}no${reset}\n`])
    assert.deepStrictEqual(passed(`${ESC}[1;38;5;208mx${ESC}[m`), [`${ESC}[1;38;5;208mx${ESC}[m`])
    const others = [
      "[2J",
      "[6n",
      "[?25l",
      "[>4;1m",
      "[?4m",
      "]52;c;aGk=\u0007",
      "]0;t\u0007",
      "]8;;x\u001b\\",
      "c",
      "7"
    ]
    for (const other of others) {
      const [shown = ""] = passed(`a${ESC}${other}b\n`)
      assert.strictEqual(shown, `a${escaped(ESC + other)}b\n`)
    }
    assert.deepStrictEqual(passed("\u009b31m\r\n\u202e"), ["\\u{9b}31m\n\\u{202e}"])
    assert.deepStrictEqual(passed(`${ESC}[${"1;".repeat(64)}m`)[0]?.includes(ESC), false)
  })

  it("lets no color reach what the command line prints next, and goes on with the color", () => {
    assert.deepStrictEqual(passed(`${red}one\n`, "two\n", `${reset}three\n`), [
      `${red}one\n${reset}`,
      `${red}two\n${reset}`,
      `${red}${reset}three\n`
    ])
    assert.deepStrictEqual(passed(`${red}${ESC}[0;1mx`, "y"), [`${red}${ESC}[0;1mx${reset}`, `${ESC}[0;1my${reset}`])
    const many = passed(...Array.from({ length: 100 }, () => red))
    assert.isBelow(many.at(-1)!.length, 100)
  })

  it("knows a sequence, a character and a line end that are cut between two chunks", () => {
    const text = `${red}a${reset}${ESC}]0;t\u0007${ESC}[2J€\u009b1m\r\n\u{e0041}`
    const bytes = new TextEncoder().encode(text)
    const [whole = ""] = passed(bytes)
    const plain = (texts: ReadonlyArray<string>) => texts.join("").replaceAll(new RegExp(`${ESC}\\[\\d+m`, "g"), "")
    for (let at = 0; at <= bytes.length; at++) {
      assert.strictEqual(plain(passed(bytes.subarray(0, at), bytes.subarray(at))), plain([whole]))
    }
    assert.strictEqual(plain(passed(...Array.from(bytes, (byte) => Uint8Array.of(byte)))), plain([whole]))
    assert.include(whole, "\\u{1b}]0;t\\u{7}\\u{1b}[2J€\\u{9b}1m\n\\u{e0041}")
  })

  it("has no colors where the user wants none", () => {
    assert.strictEqual(new Passage(false).next(`${red}a${ESC}[2J`), "a\\u{1b}[2J")
  })
})
