import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import { Cause, Effect, Exit } from "effect"
import * as Attempt from "../../src/runtime/Attempt.js"

describe("Attempt.outcomeOf", () => {
  it("is the outcome that the mapping returns", () => {
    const outcome = { result: {} }
    const refusal = new JsonRpcError.JsonRpcError({ code: -5, message: "no" })
    assert.strictEqual(Attempt.outcomeOf(Exit.void, () => outcome), outcome)
    assert.strictEqual(Attempt.outcomeOf(Exit.fail(refusal), Outcome.fromExit).error, refusal)
  })

  it("passes the exit to the mapping", () => {
    const exit = Exit.succeed({ a: 1 })
    assert.deepStrictEqual(Attempt.outcomeOf(exit, Outcome.fromExit), { result: { a: 1 } })
  })

  const thrower = {
    get error(): never {
      throw new Error("s3cret")
    }
  }

  const faults: ReadonlyArray<readonly [name: string, reply: () => unknown]> = [
    ["throws", () => {
      throw new Error("s3cret")
    }],
    ["returns undefined", () => undefined],
    ["returns neither a result nor an error", () => ({})],
    ["returns a result that is no object", () => ({ result: 5 })],
    ["returns a result that is null", () => ({ result: null })],
    ["returns a result that is an array", () => ({ result: [] })],
    ["returns an error without a code", () => ({ error: { message: "m" } })],
    ["returns an error without a message", () => ({ error: { code: 1 } })],
    ["returns an error whose getter throws", () => thrower]
  ]

  for (const [name, reply] of faults) {
    it(`is "Internal error" when the mapping ${name}`, () => {
      const outcome = Attempt.outcomeOf(Exit.void, reply as () => Outcome.Outcome)
      assert.deepStrictEqual(outcome.error, JsonRpcError.internal)
      assert.isTrue(outcome.died !== undefined && Cause.isDie(outcome.died))
    })
  }
})

describe("Attempt.attempt", () => {
  it("returns what the function returns", () => {
    assert.strictEqual(Attempt.attempt(() => 1, () => 2), 1)
  })

  it.effect("makes a defect of what the function throws", () =>
    Effect.gen(function*() {
      const error = new Error("thrown")
      const attempted = Attempt.attempt((): Effect.Effect<void> => {
        throw error
      }, Effect.failCause)
      assert.deepStrictEqual(yield* Effect.exit(attempted), Exit.die(error))
    }))
})
