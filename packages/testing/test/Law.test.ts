import { assert, describe, it } from "@effect/vitest"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Law from "@effect-mcp/testing/Law"
import { Effect } from "effect"
import * as NodesLaws from "./support/NodesLaws.js"

const law = Law.make<number>("is even", (n, expect) => expect(n % 2 === 0, `${n} is odd`))

describe("A law", () => {
  it.effect("is kept, or fails with its name and what is wrong", () =>
    Effect.gen(function*() {
      yield* law.check(Effect.succeed(2))
      const { law: name, message } = yield* Effect.flip(law.check(Effect.succeed(3)))
      assert.deepStrictEqual([name, message], ["is even", "3 is odd"])
    }))

  it.effect("is broken by an operation that fails or dies", () =>
    Effect.gen(function*() {
      for (const operation of [Effect.fail("no answer"), Effect.dieMessage("no answer")]) {
        const { message } = yield* Effect.flip(Law.make("answers", () => operation).check(Effect.void))
        assert.include(message, "no answer")
      }
    }))

  it.effect("releases what was made, and lets its failure through", () =>
    Effect.gen(function*() {
      let released = 0
      const make = Effect.acquireRelease(Effect.succeed(1), () => Effect.sync(() => released++))
      yield* Effect.flip(law.check(make))
      assert.strictEqual(released, 1)
      assert.strictEqual(yield* Effect.flip(law.check(Effect.fail("no service"))), "no service")
    }))

  it.effect("may release what was made before it ends", () =>
    Effect.gen(function*() {
      let released = 0
      const make = Effect.acquireRelease(Effect.void, () => Effect.sync(() => released++))
      const gone = Law.make("is gone", (_, expect, release) =>
        Effect.zipRight(release, Effect.suspend(() => expect(released === 1, "it is there"))))
      yield* gone.check(make)
      assert.strictEqual(released, 1)
    }))
})

describe("The laws of nodes", () => {
  it("are for every revision, and those that have sessions which can move keep them", () => {
    const named = (text: string) =>
      NodesLaws.laws.flatMap(({ name }) => name.startsWith(text) ? [name.slice(name.lastIndexOf(" ") + 1)] : [])
    assert.deepStrictEqual(named("serve a client").sort(), [...Version.all].sort())
    assert.deepStrictEqual(named("keep the session"), ["2025-03-26", "2025-06-18", "2025-11-25"])
    assert.lengthOf(NodesLaws.laws, 9)
  })
})
