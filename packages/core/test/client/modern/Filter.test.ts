import { assert, describe, it } from "@effect/vitest"
import * as Filter from "../../../src/client/modern/Filter.js"

type Keys = ReadonlyArray<string> | undefined

/** A wish, or the end of one, for a member. */
type Step = readonly ["+" | "-", name: string, keys?: Keys]

const lists = { toolsListChanged: true }

const after = (steps: ReadonlyArray<Step>) => {
  let filter = Filter.make(lists)
  let hasChanged = false
  for (const [sign, name, keys] of steps) {
    ;[filter, hasChanged] = (sign === "+" ? Filter.add : Filter.remove)(filter, name, keys)
  }
  return { filter, hasChanged }
}

const r = "resourceSubscriptions"

describe("The filter of a subscription", () => {
  const rows: ReadonlyArray<readonly [string, ReadonlyArray<Step>, hasChanged: boolean, wire: object]> = [
    ["has the lists from the beginning", [], false, {}],
    ["has a key that is wanted", [["+", r, ["a"]]], true, { [r]: ["a"] }],
    ["has a flag that is wanted", [["+", "x/flag"]], true, { "x/flag": true }],
    ["stays as it is when a key is wanted again", [["+", r, ["a"]], ["+", r, ["a"]]], false, { [r]: ["a"] }],
    ["changes when one key of several is new", [["+", r, ["a"]], ["+", r, ["a", "b"]]], true, { [r]: ["a", "b"] }],
    ["has no member without keys", [["+", r, []]], false, {}],
    [
      "keeps a key until nobody wants it",
      [["+", r, ["a"]], ["+", r, ["a"]], ["-", r, ["a"]]],
      false,
      { [r]: ["a"] }
    ],
    ["has no member whose last key was removed", [["+", r, ["a"]], ["-", r, ["a"]]], true, {}],
    ["keeps the other keys", [["+", r, ["a", "b"]], ["-", r, ["a"]]], true, { [r]: ["b"] }],
    ["keeps a flag until nobody wants it", [["+", "x/flag"], ["+", "x/flag"], ["-", "x/flag"]], false, {
      "x/flag": true
    }],
    ["has no flag that was removed", [["+", "x/flag"], ["-", "x/flag"]], true, {}],
    ["stays as it is when an unknown key is removed", [["+", r, ["a"]], ["-", r, ["b"]]], false, { [r]: ["a"] }],
    ["stays as it is when an unknown member is removed", [["-", r, ["b"]]], false, {}]
  ]
  for (const [sentence, steps, hasChanged, wire] of rows) {
    it(sentence, () => {
      const found = after(steps)
      assert.strictEqual(found.hasChanged, hasChanged)
      assert.deepStrictEqual(Filter.wireOf(found.filter), { ...lists, ...wire })
    })
  }

  it("is not changed by what comes from it", () => {
    const { filter } = after([["+", r, ["a"]]])
    Filter.add(filter, r, ["a", "b"])
    Filter.remove(filter, r, ["a"])
    assert.deepStrictEqual(Filter.wireOf(filter), { ...lists, [r]: ["a"] })
    assert.isTrue(Filter.has(filter, r, "a"))
    assert.isFalse(Filter.has(filter, r, "b"))
  })
})

describe("A server has not acknowledged", () => {
  const wanted = { ...lists, [r]: ["a", "b"], "x/flag": true }
  const rows: ReadonlyArray<readonly [string, acknowledged: object, ReadonlyArray<string>]> = [
    ["nothing when it has acknowledged all", wanted, []],
    ["what it leaves out", { [r]: ["a", "b"] }, ["toolsListChanged", "x/flag"]],
    ["a flag that it denies", { ...wanted, toolsListChanged: false }, ["toolsListChanged"]],
    ["keys of which one is left out", { ...wanted, [r]: ["a"] }, [r]],
    ["keys in whose place it has a flag", { ...wanted, [r]: true }, [r]],
    ["a flag in whose place it has keys", { ...wanted, "x/flag": ["a"] }, ["x/flag"]]
  ]
  for (const [sentence, acknowledged, missing] of rows) {
    it(sentence, () => assert.deepStrictEqual(Filter.missing(acknowledged, wanted, Object.keys(wanted)), missing))
  }

  it("only of what it is asked for", () => assert.deepStrictEqual(Filter.missing({}, wanted, [r]), [r]))
})
