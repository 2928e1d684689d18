import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import { Cause, Effect, Exit, FiberId } from "effect"
import * as Attempt from "../../src/runtime/Attempt.js"

const no = new JsonRpcError.JsonRpcError({ code: -5, message: "no", data: { why: 1 } })

describe("Reply.fromExit", () => {
  it("answers a success with the result, as it is", () => {
    const result = { a: 1 }
    assert.strictEqual(Outcome.fromExit(Exit.succeed(result)).result, result)
  })

  it("answers a failure with its own error", () => {
    const reply = Outcome.fromExit(Exit.fail(no))
    assert.strictEqual<unknown>(reply.error, no)
    assert.strictEqual(reply.died, undefined)
  })

  const bugs: ReadonlyArray<readonly [name: string, cause: Cause.Cause<unknown>]> = [
    ["a defect", Cause.die(new Error("s3cret"))],
    ["a failure that is no error of the protocol", Cause.fail(new Error("s3cret"))],
    ["a failure that looks like one", Cause.fail({ code: -5, message: "s3cret" })],
    ["an interruption that nobody has asked for", Cause.interrupt(FiberId.none)],
    ["nothing at all", Cause.empty]
  ]

  for (const [name, cause] of bugs) {
    it(`says "Internal error" of ${name}, and keeps the cause for the operator`, () => {
      const reply = Outcome.fromExit(Exit.failCause(cause))
      assert.deepStrictEqual(reply.error, JsonRpcError.internal)
      assert.strictEqual(reply.died, cause)
    })
  }
})

describe("Reply.total", () => {
  it("gives the reply that it is given", () => {
    const reply = { result: {} }
    assert.strictEqual(Attempt.outcomeOf(Exit.void, () => reply), reply)
    assert.strictEqual(Attempt.outcomeOf(Exit.fail(no), Outcome.fromExit).error, no)
  })

  it("hands over the exit", () => {
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
    ["gives nothing", () => undefined],
    ["gives neither a result nor an error", () => ({})],
    ["gives a result that is no object", () => ({ result: 5 })],
    ["gives a result that is null", () => ({ result: null })],
    ["gives a result that is an array", () => ({ result: [] })],
    ["gives an error without a code", () => ({ error: { message: "m" } })],
    ["gives an error without a message", () => ({ error: { code: 1 } })],
    ["gives an error that cannot be looked at", () => thrower]
  ]

  for (const [name, reply] of faults) {
    it(`says "Internal error" when the mapping ${name}`, () => {
      const given = Attempt.outcomeOf(Exit.void, reply as () => Outcome.Outcome)
      assert.deepStrictEqual(given.error, JsonRpcError.internal)
      assert.isTrue(given.died !== undefined && Cause.isDie(given.died))
    })
  }
})

describe("Reply.attempt", () => {
  it("gives what the code gives", () => {
    assert.strictEqual(Attempt.attempt(() => 1, () => 2), 1)
  })

  it.effect("makes a defect of what the code throws", () =>
    Effect.gen(function*() {
      const error = new Error("thrown")
      const attempted = Attempt.attempt((): Effect.Effect<void> => {
        throw error
      }, Effect.failCause)
      assert.deepStrictEqual(yield* Effect.exit(attempted), Exit.die(error))
    }))
})

describe("Reply.toMessage", () => {
  it("puts the id under the answer, as it came", () => {
    assert.deepStrictEqual<unknown>(Outcome.toMessage("7", { result: { a: 1 } }), Message.success("7", { a: 1 }))
    assert.deepStrictEqual<unknown>(Outcome.toMessage(0, { error: no }), Message.failure(0, no))
  })

  it("says nothing of why a handler died", () => {
    const message = Outcome.toMessage(1, Outcome.died(Cause.die("s3cret")))
    assert.deepStrictEqual<unknown>(message, Message.failure(1, JsonRpcError.internal))
  })

  it("tells who asks while the conversation closes that it has", () => {
    const error = { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" }
    assert.deepStrictEqual<unknown>(Outcome.toMessage(1, Outcome.closing), Message.failure(1, error))
  })
})
