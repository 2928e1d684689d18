import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as UriKey from "../../../src/protocol/rules/UriKey.js"

describe("UriKey", () => {
  const equal: ReadonlyArray<ReadonlyArray<string>> = [
    ["note:///a", "NOTE:///a", "Note:///%61"],
    ["https://example.com/a", "HTTPS://EXAMPLE.com/a", "https://Example.Com:443/a", "https://example.com:/a"],
    ["http://example.com/", "http://example.com", "http://example.com:80", "http://example.com:80/"],
    ["http://example.com/?q=1", "http://example.com?q=1"],
    ["http://Ann@example.com/", "http://Ann@EXAMPLE.com"],
    ["note:///caf%C3%A9", "note:///caf%c3%a9", "note:///café", "note:///caf\u00e9"],
    ["note:///a-b_c.d~e", "note:///a%2Db%5fc%2Ed%7ee"],
    ["note:///a%20b%7Bc%7D", "note:///a b{c}", "note:///a%20b%7bc%7d"],
    ["http://x%C3%A9.example/", "http://X%c3%a9.Example"]
  ]
  for (const uris of equal) {
    it(`is one for ${uris.join(", ")}`, () => {
      assert.deepStrictEqual([...new Set(uris.map(UriKey.of))], [uris[0]])
    })
  }

  const different: ReadonlyArray<readonly [string, string]> = [
    ["note:///a/b", "note:///a%2Fb"],
    ["note:///b", "note:///a/../b"],
    ["note:///a", "note:///./a"],
    ["note:///a", "note:///A"],
    ["note:///a", "note:///a/"],
    ["note:///a?b", "note:///a%3Fb"],
    ["note:///a#b", "note:///a%23b"],
    ["http://Ann@example.com/", "http://ann@example.com/"],
    ["http://example.com:443/", "https://example.com:443/"],
    ["note://host", "note://host/"],
    ["note:///é", "note:///e\u0301"],
    ["urn:a:B", "urn:a:b"]
  ]
  for (const [one, other] of different) {
    it(`is not one for ${one} and ${other}`, () => assert.notStrictEqual(UriKey.of(one), UriKey.of(other)))
  }

  it("is its own key, whatever the text is, and for a text of a million characters", () => {
    const part = FastCheck.oneof(
      FastCheck.constantFrom(
        "http://",
        "a:",
        "%",
        "%c3",
        "%2f",
        "%7e",
        "/",
        "@",
        ":",
        "80",
        "?",
        "#",
        "..",
        "{",
        "\ud800"
      ),
      FastCheck.fullUnicodeString({ maxLength: 3 })
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(part, { maxLength: 8 }), (parts) => {
        const key = UriKey.of(parts.join(""))
        assert.strictEqual(UriKey.of(key), key)
      }),
      { numRuns: 2000 }
    )
    const before = process.cpuUsage()
    for (const text of ["%", "%c3", "@", ":", "a:", "//", "é"]) UriKey.of(`http://${text.repeat(60_000 / text.length)}`)
    UriKey.of("é".repeat(1_000_000))
    assert.isBelow(process.cpuUsage(before).user, 1_000_000)
  })
})
