// The check of the edition for Effect 4 passes nothing over: a rule that fits too little, a module that the codemod would change again, a
// test that fails without an exception, and an exception that is not needed.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { idleRules, judge, shareByHand, unstable } from "./edition4.mjs"
import { codeLines } from "./edition4/generate.mjs"

const counted = (fits, shimFits = []) => ({
  counts: {
    fits: new Map(Object.entries(fits).map(([rule, files]) => [rule, new Set(files)])),
    shimFits: new Set(shimFits)
  },
  shims: new Map([["Effect.old", "Effect_old"]])
})

const passed = { file: "a.test.ts", name: "one", state: "passed" }
const failed = { file: "a.test.ts", name: "two", state: "failed", why: "no" }

describe("the check of the edition for Effect 4", () => {
  it("wants two files for each rule, and one use for what is written by hand", () => {
    assert.deepEqual(idleRules(counted({ a: ["1", "2"] }, ["Effect_old"]), ["a"]), [])
    assert.equal(idleRules(counted({ a: ["1"] }, ["Effect_old"]), ["a"]).length, 1)
    assert.equal(idleRules(counted({}, []), ["a"]).length, 2)
  })

  it("finds a module that the codemod changes again", () => {
    const text = "import * as Effect from \"effect/Effect\"\nexport const a = Effect.zipRight\n"
    const module = { path: "packages/core/src/kit/A.ts", text, isByHand: false }
    assert.equal(unstable({ modules: [module], shimsFor: () => new Map() }).length, 1)
    assert.deepEqual(unstable({ modules: [{ ...module, isByHand: true }], shimsFor: () => new Map() }), [])
  })

  it("counts lines of code, without comments", () => {
    assert.equal(codeLines("/**\n * A\n */\n\n// b\nconst a = 1\n"), 1)
    const modules = [{ text: "a\nb\nc\n", isByHand: false }, { text: "d\n", isByHand: true }]
    assert.equal(shareByHand(modules), 25)
  })

  it("wants an exception with a reason for each test that fails, and for no other", () => {
    const exception = { file: "a.test.ts", name: "two", why: "because" }
    const judged = (tests, exceptions, unhandled = []) => judge({ tests, unhandled }, exceptions).length
    assert.equal(judged([passed, failed], [exception]), 0)
    assert.equal(judged([passed, failed], []), 1)
    assert.equal(judged([passed, failed], [{ ...exception, why: "" }]), 1)
    assert.equal(judged([{ ...failed, state: "passed" }], [exception]), 1)
    assert.equal(judged([passed], [exception]), 1)
    assert.equal(judged([{ ...passed, state: "skipped" }], []), 1)
    assert.equal(judged([passed], [], ["boom"]), 1)
  })

  it("takes one exception for all tests of a file, while one of them fails", () => {
    const all = { file: "a.test.ts", name: "(all)", why: "because" }
    const judged = (tests) => judge({ tests, unhandled: [] }, [all]).length
    assert.equal(judged([passed, failed]), 0)
    assert.equal(judged([failed, { ...failed, file: "b.test.ts" }]), 1)
    assert.equal(judged([passed]), 1)
    assert.equal(judged([]), 1)
  })
})
