import { assert, describe, it } from "@effect/vitest"
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import * as Completer from "@effect-mcp/server/Completer"
import { Effect } from "effect"

const choices = new Map([["size", ["Small", "Large"]], ["color", ["red"]]])

const complete = (
  completers: ReturnType<typeof Completer.toRegistered>,
  name: string,
  value: string,
  others: Readonly<Record<string, string>> = {}
) => completers.get(name)!(value, others) as Effect.Effect<Suggestions, unknown>

describe("Completer", () => {
  it.effect("of choices gives those that begin with what is there, whatever its case", () =>
    Effect.gen(function*() {
      const completers = Completer.toRegistered({}, choices)
      assert.deepStrictEqual([...completers.keys()], ["size", "color"])
      assert.deepStrictEqual(yield* complete(completers, "size", "s"), { values: ["Small"], total: 1, hasMore: false })
      assert.deepStrictEqual((yield* complete(completers, "size", "")).values, ["Small", "Large"])
      assert.deepStrictEqual((yield* complete(completers, "size", "mall")).values, [])
    }))

  it.effect("that is given comes before choices, and is told of the others", () =>
    Effect.gen(function*() {
      const completers = Completer.toRegistered({
        size: (value, others) => Effect.succeed([`${value} of ${others.color}`])
      }, choices)
      assert.deepStrictEqual(yield* complete(completers, "size", "x", { color: "red" }), {
        values: ["x of red"],
        total: 1,
        hasMore: false
      })
      assert.deepStrictEqual((yield* complete(completers, "color", "")).values, ["red"])
    }))

  it.effect("may say itself how many there are", () =>
    Effect.gen(function*() {
      const suggestions = { values: ["a"], total: 1000, hasMore: true }
      const completers = Completer.toRegistered({ any: () => Effect.succeed(suggestions) }, new Map())
      assert.deepStrictEqual(yield* complete(completers, "any", ""), suggestions)
    }))

  it("that is undefined is none, and leaves choices as they are", () => {
    const completers = Completer.toRegistered({ size: undefined, any: undefined }, choices)
    assert.deepStrictEqual([...completers.keys()], ["size", "color"])
  })
})
