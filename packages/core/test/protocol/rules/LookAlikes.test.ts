import { assert, describe, it } from "@effect/vitest"
import * as LookAlikes from "../../../src/protocol/rules/LookAlikes.js"

const alike: ReadonlyArray<readonly [string, string]> = [
  ["pay", "p\u0430y"],
  ["open", "\u043Epen"],
  ["list_files", "Iist_files"],
  ["top10", "topl0"],
  ["OK", "0K"],
  ["modern", "modem"],
  ["read", "ｒｅａｄ"],
  ["pay", "pay\u200B"],
  ["get-all", "get\u2010all"],
  ["HOME", "\u041D\u041E\u041C\u0415"],
  ["alpha", "\u03B1lph\u03B1"]
]

describe("Names", () => {
  for (const [one, other] of alike) {
    it(`look alike: ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      assert.deepStrictEqual(LookAlikes.find(["search", one, other]).alike, [[one, other]])
    })
  }

  it("do not look alike when they are equal, or differ as names do", () => {
    const names = [
      "pay",
      "pay",
      "play",
      "pay_2",
      "read_file",
      "read_files",
      "Read",
      "read",
      "café",
      "cafe",
      "получить",
      "検索"
    ]
    assert.deepStrictEqual(LookAlikes.find(names), { alike: [], mixed: [] })
  })

  it("mix scripts when some letters are of Latin and others of a script whose letters look alike", () => {
    const names = ["p\u0430y", "получить", "検索_search", "α-test"]
    assert.deepStrictEqual(LookAlikes.find(names).mixed, ["p\u0430y", "α-test"])
  })

  it("are compared fast, however long and many they are", () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `${"а".repeat(1000)}${i}`)
    assert.lengthOf(LookAlikes.find(names).alike, 1)
  })
})
