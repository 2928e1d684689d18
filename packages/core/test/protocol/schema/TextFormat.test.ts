import { describe, expect, it } from "vitest"
import * as TextFormat from "../../../src/protocol/schema/TextFormat.js"

const cases: Readonly<
  Record<TextFormat.TextFormat, readonly [fits: ReadonlyArray<string>, not: ReadonlyArray<string>]>
> = {
  email: [
    ["a@b", "ada.lovelace+x@mail.example.com", "a@b-c.d", "é@example.com", "a'b@c.de"],
    ["", "a", "@b", "a@", "a b@c", "a@b c", "a@-b", "a@b..c", "a@.b", "a\n@b", `${"a".repeat(65)}@b`, "a@b.c\u0000"]
  ],
  uri: [
    ["https://example.com/a?b=c#d", "mailto:a@b.c", "urn:isbn:1", "file:///a%20b", "a:b"],
    ["", "a", "/a/b", "//a", "1a:b", "a:", "http://a b", "http://é", "a:%zz", "a:b%2", "a:b\n"]
  ],
  date: [
    ["2024-02-29", "2000-02-29", "2025-12-31", "0001-01-01"],
    [
      "",
      "2025-02-29",
      "1900-02-29",
      "2025-13-01",
      "2025-00-01",
      "2025-01-32",
      "2025-04-31",
      "2025-1-1",
      "x2025-01-01",
      "2025-01-01x"
    ]
  ],
  "date-time": [
    ["2025-01-12T15:00:58Z", "2025-01-12t15:00:58.123456z", "2025-01-12 15:00:58+05:30", "2016-12-31T23:59:60Z"],
    [
      "",
      "2025-01-12",
      "2025-01-12T15:00:58",
      "2025-01-12T24:00:00Z",
      "2025-02-30T00:00:00Z",
      "2025-01-12T15:60:00Z",
      "2025-01-12T15:00:58+24:00",
      "2025-01-12T15:00:58.Z"
    ]
  ]
}

describe("TextFormat", () => {
  for (const format of ["email", "uri", "date", "date-time"] as const) {
    const [fits, not] = cases[format]
    it(`recognizes the format "${format}"`, () => {
      for (const text of fits) expect(TextFormat.matches(format, text), text).toBe(true)
      for (const text of not) expect(TextFormat.matches(format, text), JSON.stringify(text)).toBe(false)
    })

    it(`checks a long text for the format "${format}" in linear time`, () => {
      for (const unit of ["a", "a.", "@", "-", "%", "0", "a@", ":", " "]) {
        expect(() => TextFormat.matches(format, unit.repeat(100_000))).not.toThrow()
      }
    })
  }
})
