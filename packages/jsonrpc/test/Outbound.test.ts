import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import { Effect } from "effect"

describe("Outbound.none", () => {
  it.effect("refuses every request and names it", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Outbound.none.request("roots/list", {}, { timeout: 0 }))
      assert.instanceOf(error, LocalError.NoBackChannel)
      assert.strictEqual(error.method, "roots/list")
      assert.include(error.message, "roots/list")
    }))

  it.effect("drops every notification", () => Outbound.none.notify("notifications/message", { data: 1 }))
})

describe("the ways that a call can fail without an answer", () => {
  it("say what happened", () => {
    const fault = new LocalError.TransportError({ reason: "Read", message: "the pipe broke" })
    assert.strictEqual(new LocalError.ConnectionClosed({}).message, "Connection closed")
    assert.strictEqual(new LocalError.ConnectionClosed({ cause: fault }).message, "Connection closed: the pipe broke")
    assert.strictEqual(
      new LocalError.RequestTimeout({ method: "m", millis: 100 }).message,
      "Request \"m\" timed out after 100 ms"
    )
    assert.include(new LocalError.SessionExpired({ method: "m" }).message, "\"m\"")
  })

  it("are never taken for the peer's own refusal", () => {
    const errors: ReadonlyArray<Outbound.CallError> = [
      new LocalError.ConnectionClosed({}),
      new LocalError.RequestTimeout({ method: "m", millis: 0 }),
      new LocalError.NoBackChannel({ method: "m" }),
      new LocalError.SessionExpired({ method: "m" }),
      new LocalError.TransportError({ reason: "Encode", message: "m" }),
      new JsonRpcError.JsonRpcError({ code: -32000, message: "Connection closed" })
    ]
    assert.strictEqual(new Set(errors.map((error) => error._tag)).size, errors.length)
    assert.deepStrictEqual(errors.filter((error) => error instanceof JsonRpcError.JsonRpcError), errors.slice(-1))
  })
})
