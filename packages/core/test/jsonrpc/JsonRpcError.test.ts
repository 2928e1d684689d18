import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import { Effect } from "effect"

describe("JsonRpcError", () => {
  it("has the codes of JSON-RPC", () => {
    assert.deepStrictEqual(
      [
        JsonRpcError.PARSE_ERROR,
        JsonRpcError.INVALID_REQUEST,
        JsonRpcError.METHOD_NOT_FOUND,
        JsonRpcError.INVALID_PARAMS,
        JsonRpcError.INTERNAL_ERROR,
        JsonRpcError.UNAVAILABLE
      ],
      [-32700, -32600, -32601, -32602, -32603, -32000]
    )
  })

  it.effect("is a failure with its code, message and data", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(new JsonRpcError.JsonRpcError({ code: -1, message: "no", data: [1] }))
      assert.strictEqual(error._tag, "JsonRpcError")
      assert.strictEqual(error.code, -1)
      assert.strictEqual(error.message, "no")
      assert.deepStrictEqual(error.data, [1])
    }))

  it("is sent as code, message and data, without other members", () => {
    const error = new JsonRpcError.JsonRpcError({ code: -1, message: "no", data: null })
    assert.deepStrictEqual(JsonRpcError.toObject(error), { code: -1, message: "no", data: null })
    const more = { code: -1, message: "no", stack: "at secret.ts:1", cause: "secret" }
    assert.deepStrictEqual(JsonRpcError.toObject(more), { code: -1, message: "no" })
  })

  it("leaves data out when there is none", () => {
    const error = new JsonRpcError.JsonRpcError({ code: -1, message: "no" })
    assert.deepStrictEqual(Object.keys(JsonRpcError.toObject(error)), ["code", "message"])
  })

  it("is \"Internal error\" for reasons that the peer must not see", () => {
    assert.deepStrictEqual(JsonRpcError.internal, { code: -32603, message: "Internal error" })
  })
})
