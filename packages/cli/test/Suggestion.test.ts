import { assert, describe, it } from "@effect/vitest"
import * as Suggestion from "../src/Suggestion.js"

const adviceFor = (word: string, names: ReadonlyArray<string>): string =>
  Suggestion.unknown((word) => `There is no "${word}"`, word, names, Suggestion.itHas).message

describe("The name that was meant", () => {
  const others = Array.from({ length: 999 }, (_, n) => `${n}`)

  it("is looked for among a thousand names, and not among all that a server lists", () => {
    assert.include(adviceFor("gret", [...others, "greet"]), "Did you mean \"greet\"?")
    assert.notInclude(adviceFor("gret", [...others, "one more", "greet"]), "Did you mean")
  })
})
