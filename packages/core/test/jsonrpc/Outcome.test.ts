import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import { Cause, Exit, FiberId } from "effect"

const refusal = new JsonRpcError.JsonRpcError({ code: -5, message: "no", data: { why: 1 } })

describe("Outcome.fromExit", () => {
  it("is the result of a success, unchanged", () => {
    const result = { a: 1 }
    assert.strictEqual(Outcome.fromExit(Exit.succeed(result)).result, result)
  })

  it("is the error of a failure with JsonRpcError", () => {
    const outcome = Outcome.fromExit(Exit.fail(refusal))
    assert.strictEqual<unknown>(outcome.error, refusal)
    assert.strictEqual(outcome.died, undefined)
  })

  const bugs: ReadonlyArray<readonly [name: string, cause: Cause.Cause<unknown>]> = [
    ["a defect", Cause.die(new Error("s3cret"))],
    ["a failure that is not a JsonRpcError", Cause.fail(new Error("s3cret"))],
    ["a failure that has the members of one", Cause.fail({ code: -5, message: "s3cret" })],
    ["an interruption that this side did not request", Cause.interrupt(FiberId.none)],
    ["an empty cause", Cause.empty]
  ]

  for (const [name, cause] of bugs) {
    it(`is "Internal error" for ${name}, with the cause for the operator`, () => {
      const outcome = Outcome.fromExit(Exit.failCause(cause))
      assert.deepStrictEqual(outcome.error, JsonRpcError.internal)
      assert.strictEqual(outcome.died, cause)
    })
  }
})

describe("Outcome.toMessage", () => {
  it("has the id of the request, unchanged", () => {
    assert.deepStrictEqual<unknown>(Message.response("7", { result: { a: 1 } }), Message.success("7", { a: 1 }))
    assert.deepStrictEqual<unknown>(Message.response(0, { error: refusal }), Message.failure(0, refusal))
  })

  it("does not contain why a handler died", () => {
    const message = Message.response(1, Outcome.died(Cause.die("s3cret")))
    assert.deepStrictEqual<unknown>(message, Message.failure(1, JsonRpcError.internal))
  })

  it("is -32000 for a request that is in flight when the conversation closes", () => {
    const error = { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" }
    assert.deepStrictEqual<unknown>(Message.response(1, Outcome.closing), Message.failure(1, error))
  })
})
