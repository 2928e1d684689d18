import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as LocalError from "@effect-mcp/core/LocalError"
import type { CallError } from "@effect-mcp/core/Outbound"

const broken = new LocalError.TransportError({ reason: "Read", message: "the pipe broke" })

const errors: ReadonlyArray<LocalError.LocalError> = [
  new LocalError.ConnectionClosed({}),
  new LocalError.RequestTimeout({ method: "m", millis: 100 }),
  new LocalError.NoBackChannel({ method: "m" }),
  new LocalError.SessionExpired({ method: "m" }),
  broken
]

describe("LocalError", () => {
  it("has a message that names what happened", () => {
    assert.strictEqual(new LocalError.ConnectionClosed({}).message, "Connection closed")
    assert.strictEqual(new LocalError.ConnectionClosed({ cause: broken }).message, "Connection closed: the pipe broke")
    assert.strictEqual(
      new LocalError.RequestTimeout({ method: "m", millis: 100 }).message,
      "Request \"m\" timed out after 100 ms"
    )
    assert.include(new LocalError.NoBackChannel({ method: "m" }).message, "\"m\"")
    assert.include(new LocalError.SessionExpired({ method: "m" }).message, "\"m\"")
  })

  it("is distinguished from the error that the peer answered", () => {
    const refusal = new JsonRpcError.JsonRpcError({ code: -32000, message: "Connection closed" })
    const all: ReadonlyArray<CallError> = [...errors, refusal]
    assert.strictEqual(new Set(all.map((error) => error._tag)).size, all.length)
    assert.deepStrictEqual(all.filter((error) => error instanceof JsonRpcError.JsonRpcError), [refusal])
    assert.deepStrictEqual(all.filter(LocalError.isLocalError), [...errors])
  })
})
