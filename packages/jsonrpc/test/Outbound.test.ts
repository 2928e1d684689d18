import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import { Effect } from "effect"

describe("Outbound.none", () => {
  it.effect("refuses every request and names it", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Outbound.none.request("roots/list", {}, { timeout: 0 }))
      assert.instanceOf(error, Outbound.NoBackChannel)
      assert.strictEqual(error.method, "roots/list")
      assert.include(error.message, "roots/list")
    }))

  it.effect("drops every notification", () => Outbound.none.notify("notifications/message", { data: 1 }))
})

describe("the ways that a call can fail without an answer", () => {
  it("say what happened", () => {
    const fault = new Transport.TransportError({ reason: "Read", message: "the pipe broke" })
    assert.strictEqual(new Outbound.ConnectionClosed({}).message, "Connection closed")
    assert.strictEqual(new Outbound.ConnectionClosed({ cause: fault }).message, "Connection closed: the pipe broke")
    assert.strictEqual(
      new Outbound.RequestTimeout({ method: "m", millis: 100 }).message,
      "Request \"m\" timed out after 100 ms"
    )
    assert.include(new Outbound.SessionExpired({ method: "m" }).message, "\"m\"")
  })

  it("are never taken for the peer's own refusal", () => {
    const errors: ReadonlyArray<Outbound.CallError> = [
      new Outbound.ConnectionClosed({}),
      new Outbound.RequestTimeout({ method: "m", millis: 0 }),
      new Outbound.NoBackChannel({ method: "m" }),
      new Outbound.SessionExpired({ method: "m" }),
      new Transport.TransportError({ reason: "Encode", message: "m" }),
      new JsonRpcError.JsonRpcError({ code: -32000, message: "Connection closed" })
    ]
    assert.strictEqual(new Set(errors.map((error) => error._tag)).size, errors.length)
    assert.deepStrictEqual(errors.filter((error) => error instanceof JsonRpcError.JsonRpcError), errors.slice(-1))
  })
})
