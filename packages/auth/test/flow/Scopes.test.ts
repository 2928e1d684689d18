import { assert, describe, it } from "@effect/vitest"
import * as Scopes from "../../src/flow/Scopes.js"

describe("The scopes that are requested again", () => {
  type List = ReadonlyArray<string> | undefined
  const rows: ReadonlyArray<
    readonly [sentence: string, requested: List, refused: Array<string>, granted: List, kept: List]
  > = [
    ["are without one that was not granted, and that the server refuses", ["a", "b"], ["b"], ["a"], ["a"]],
    [
      "keep one that was granted, although the server names it among those that it needs",
      ["a", "b"],
      ["a", "b"],
      ["a"],
      ["a"]
    ],
    ["keep one that was granted in a list with commas", ["a", "b", "c"], ["a", "b", "c"], ["a,b"], ["a", "b"]],
    [
      "keep one that was granted by another name, until the server refuses it",
      ["a", "b"],
      ["b"],
      ["https://x.test/a"],
      ["a"]
    ],
    [
      "are all that were requested where the authorization server does not say what it granted",
      ["a", "b"],
      ["b"],
      undefined,
      ["a", "b"]
    ],
    ["are none by name where none was requested by name", undefined, ["b"], ["a"], undefined]
  ]
  for (const [sentence, requested, refused, granted, kept] of rows) {
    it(sentence, () => assert.deepStrictEqual(Scopes.withoutRefused(requested, refused, granted), kept))
  }
})
